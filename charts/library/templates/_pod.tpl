{{- /* What every pod has: no root, no privilege, a read-only image. */ -}}

{{- define "library.pod-security" -}}
{{- /* Takes the user's id. */ -}}
runAsNonRoot: true
runAsUser: {{ int64 . }}
runAsGroup: {{ int64 . }}
fsGroup: {{ int64 . }}
# The shared file systems are large: nobody is to walk through them.
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "library.container-security" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- /* Requests that are limits; takes a map of resource to quantity. */ -}}
{{- define "library.resources" -}}
requests:
  {{- include "library.quantities" . | nindent 2 }}
limits:
  {{- include "library.quantities" . | nindent 2 }}
{{- end -}}

{{- /* A map of resource to quantity, as YAML: cores may have come as a number. */ -}}
{{- define "library.quantities" -}}
{{- merge (dict "cpu" (include "library.text" .cpu)) . | toYaml -}}
{{- end -}}

{{- /* Annotations that keep autoscalers from moving a pod. */ -}}
{{- define "library.stay" -}}
cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
karpenter.sh/do-not-disrupt: "true"
{{- end -}}

{{- /* Volumes of file systems; takes root and mounts, a map of file system to "read-only" or "read-write". */ -}}
{{- define "library.volumes" -}}
{{- $root := .root -}}
{{- range $fs, $mode := .mounts }}
- name: {{ $fs }}
  persistentVolumeClaim:
    claimName: {{ include "library.claim" (dict "root" $root "fs" $fs) | quote }}
    readOnly: {{ eq $mode "read-only" }}
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 16Gi
{{- end -}}

{{- define "library.mounts" -}}
{{- range $fs, $mode := .mounts }}
- name: {{ $fs }}
  mountPath: /{{ $fs }}
  readOnly: {{ eq $mode "read-only" }}
{{- end }}
- name: tmp
  mountPath: /tmp
{{- end -}}

{{- /* Variables; takes a map of name to text. */ -}}
{{- define "library.variables" -}}
{{- range $name, $value := . }}
- name: {{ $name | quote }}
  value: {{ include "library.literal" $value }}
{{- end }}
{{- end -}}

{{- /* A variable's or argument's text, quoted, in which Kubernetes is to replace nothing: it reads $(NAME), and $$ as $. */ -}}
{{- define "library.literal" -}}
{{- include "library.text" . | replace "$" "$$" | quote -}}
{{- end -}}

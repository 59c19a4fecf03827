{{- /* What pods beside training have: a system node, and the file systems. Each takes a chart's context. */ -}}

{{- define "library.helper-pod" -}}
serviceAccountName: {{ .Values.serviceAccount | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
nodeSelector:
  mask-rcnn/node: system
securityContext:
  {{- include "library.pod-security" .Values.user | nindent 2 }}
{{- end -}}

{{- define "library.helper-image" -}}
{{- include "library.image" (dict "root" . "given" .Values.image "key" "image" "algorithm" "horovod") -}}
{{- end -}}

{{- /* The file systems that values ask for, as JSON; refuses none at all. */ -}}
{{- define "library.helper-mounts" -}}
{{- $mounts := dict -}}
{{- range $fs, $wanted := .Values.volumes -}}
{{- if $wanted -}}{{ $_ := set $mounts $fs "read-write" }}{{- end -}}
{{- end -}}
{{- if not $mounts -}}
{{- fail "volumes: neither efs nor fsx is wanted: set one of them to true" -}}
{{- end -}}
{{- toJson $mounts -}}
{{- end -}}

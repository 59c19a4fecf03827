{{- /* A pod that waits to be attached to. Takes root, name and mounts. */ -}}
{{- define "attach.pod" }}
{{- $values := .root.Values }}
---
apiVersion: v1
kind: Pod
metadata:
  {{- include "library.metadata" (dict "root" .root "name" .name) | nindent 2 }}
spec:
  {{- include "library.helper-pod" .root | nindent 2 }}
  restartPolicy: Never
  activeDeadlineSeconds: {{ mul 3600 (int64 $values.hours) }}
  # It has nothing to save.
  terminationGracePeriodSeconds: 1
  containers:
    - name: {{ .name }}
      image: {{ include "library.helper-image" .root | quote }}
      imagePullPolicy: IfNotPresent
      command: [sleep]
      args: [infinity]
      workingDir: /{{ ternary "fsx" "efs" (hasKey .mounts "fsx") }}
      env:
        {{- include "library.variables" (dict "HOME" "/tmp") | trim | nindent 8 }}
      securityContext:
        {{- include "library.container-security" . | nindent 8 }}
      resources:
        {{- include "library.resources" $values.resources | nindent 8 }}
      volumeMounts:
        {{- include "library.mounts" . | trim | nindent 8 }}
  volumes:
    {{- include "library.volumes" (dict "root" .root "mounts" .mounts) | trim | nindent 4 }}
{{- end -}}

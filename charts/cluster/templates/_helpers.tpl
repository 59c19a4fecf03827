{{/* Labels of every object. */}}
{{- define "cluster.labels" -}}
app.kubernetes.io/part-of: mask-rcnn
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* What every container of ours is denied. */}}
{{- define "cluster.locked" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

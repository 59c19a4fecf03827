{{- /* All workers of a job or none; the launcher's system node is there in any case. */ -}}

{{- define "library.gang-scheduler" -}}
{{- if ne .Values.gang.scheduler "none" -}}
schedulerName: {{ default (ternary "volcano" "scheduler-plugins-scheduler" (eq .Values.gang.scheduler "volcano")) .Values.gang.scheduler_name | quote }}
{{- end -}}
{{- end -}}

{{- /* Takes root and machine. */ -}}
{{- define "library.pod-group" -}}
{{- $gang := .root.Values.gang -}}
{{- if ne $gang.scheduler "none" }}
---
{{- if eq $gang.scheduler "volcano" }}
# https://volcano.sh/en/docs/podgroup/
apiVersion: scheduling.volcano.sh/v1beta1
{{- else }}
# https://github.com/kubernetes-sigs/scheduler-plugins/tree/master/pkg/coscheduling
apiVersion: scheduling.x-k8s.io/v1alpha1
{{- end }}
kind: PodGroup
metadata:
  {{- include "library.metadata" (dict "root" .root "name" (printf "%s-gang" .root.Release.Name)) | nindent 2 }}
spec:
  minMember: {{ .machine.nodes }}
  {{- if eq $gang.scheduler "volcano" }}
  queue: {{ $gang.queue | quote }}
  {{- else if $gang.timeout_s }}
  scheduleTimeoutSeconds: {{ int64 $gang.timeout_s }}
  {{- end }}
{{- end }}
{{- end -}}

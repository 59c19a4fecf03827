{{- /* What launcher and workers share. Each takes root, algorithm, machine and job. */ -}}

{{- define "library.pod-metadata" -}}
{{- /* Takes gang too: the gang scheduler whose group the pod is in, or none. */ -}}
labels:
  {{- include "library.labels" .root | nindent 2 }}
  {{- if eq .gang "scheduler-plugins" }}
  scheduling.x-k8s.io/pod-group: {{ .root.Release.Name }}-gang
  {{- end }}
annotations:
  {{- include "library.stay" . | nindent 2 }}
  {{- toYaml .job.noted | nindent 2 }}
  {{- if eq .gang "volcano" }}
  scheduling.k8s.io/group-name: {{ .root.Release.Name }}-gang
  {{- end }}
{{- end -}}

{{- define "library.pod-start" -}}
serviceAccountName: {{ .root.Values.serviceAccount | quote }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ int64 .root.Values.job.grace_s }}
securityContext:
  {{- include "library.pod-security" 1000 | nindent 2 }}
{{- end -}}

{{- define "library.container-start" -}}
image: {{ .job.image | quote }}
imagePullPolicy: {{ .root.Values.maskrcnn.image_pull_policy }}
securityContext:
  {{- include "library.container-security" . | nindent 2 }}
# Where the entry point writes why a job failed: so it is the pod's message.
terminationMessagePath: /opt/ml/output/failure
terminationMessagePolicy: File
{{- end -}}

{{- /* What docker/entrypoint reads; its own variables come last, and so cannot be set otherwise. */ -}}
{{- define "library.job-variables" -}}
{{- $values := .root.Values -}}
{{- $own := dict
  "HOME" "/tmp"
  "TRAINING_JOB_NAME" .job.name
  "MASK_RCNN_PLATFORM" "eks"
  "MASK_RCNN_ALGORITHM" .algorithm
  "MASK_RCNN_DISTRIBUTION" $values.job.distribution
  "MASK_RCNN_PROCESSES_PER_HOST" .machine.processes
  "MASK_RCNN_DATA" .job.data
  "MASK_RCNN_LOG" $values.job.log
  "MASK_RCNN_INSTANCE_TYPE" .machine.type
  "MASK_RCNN_WORKERS_WAIT_S" (int64 $values.job.workers_wait_s)
  "MASK_RCNN_GRACE_S" (int64 $values.job.grace_s) -}}
{{- if eq $values.job.distribution "elastic" -}}
{{- $_ := set $own "MASK_RCNN_LEAST_HOSTS" (default 1 $values.job.least_nodes | int64) -}}
{{- end -}}
{{- $all := omit .environment "MASK_RCNN_POD_UID" -}}
{{- range $name, $value := $own -}}{{ $_ := set $all $name $value }}{{- end -}}
{{- include "library.variables" $all | trim }}
- name: MASK_RCNN_POD_UID
  valueFrom:
    fieldRef:
      fieldPath: metadata.uid
{{- end -}}

{{- /* The variables of the training processes, as JSON: keys of maskrcnn, then job.environment. */ -}}
{{- define "library.environment" -}}
{{- $out := dict -}}
{{- range $key, $variables := (include "library.tables" . | fromJson).variables -}}
{{- $value := get $.root.Values.maskrcnn $key -}}
{{- if not (or (kindIs "invalid" $value) (eq (toString $value) "")) -}}
{{- range $variables -}}{{ $_ := set $out . (include "library.text" $value) }}{{- end -}}
{{- end -}}
{{- end -}}
{{- /* Not merge, for which an empty text is none. */ -}}
{{- range $name, $value := .root.Values.job.environment -}}{{ $_ := set $out $name (include "library.text" $value) }}{{- end -}}
{{- toRawJson $out -}}
{{- end -}}

{{- define "library.job-mounts" -}}
{{- include "library.mounts" .job | trim }}
- name: contract
  mountPath: /opt/ml/input/config
  readOnly: true
{{- end -}}

{{- define "library.job-volumes" -}}
{{- include "library.volumes" (dict "root" .root "mounts" .job.mounts) | trim }}
- name: contract
  configMap:
    name: {{ .root.Release.Name }}-job
{{- end -}}

{{- /* Copies the data from S3 to the node's disk, where that is wanted. */ -}}
{{- define "library.copy-data" -}}
{{- $s3 := .root.Values.job.s3 -}}
{{- if $s3.source -}}
initContainers:
  - name: data
    image: {{ default .job.image $s3.image | quote }}
    imagePullPolicy: {{ .root.Values.maskrcnn.image_pull_policy }}
    args: [data, fetch, {{ include "library.literal" $s3.source }}, /scratch/data]
    env:
      {{- include "library.variables" (merge (dict "HOME" "/tmp") .root.Values.job.environment) | trim | nindent 6 }}
    securityContext:
      {{- include "library.container-security" . | nindent 6 }}
    terminationMessagePath: /opt/ml/output/failure
    terminationMessagePolicy: File
    resources:
      {{- include "library.resources" (pick .machine.resources "cpu" "memory") | nindent 6 }}
    volumeMounts:
      - name: scratch
        mountPath: /scratch
      - name: tmp
        mountPath: /tmp
      - name: contract
        mountPath: /opt/ml/input/config
        readOnly: true
{{- end -}}
{{- end -}}

{{- /* All objects of a training job. Takes root, a chart's context, and algorithm. */ -}}
{{- define "library.training" -}}
{{- include "library.check-gone" .root -}}
{{- $machine := include "library.machine" . | fromJson -}}
{{- $job := include "library.job" (merge (dict "machine" $machine) .) | fromJson -}}
{{- $all := merge (dict "machine" $machine "job" $job) . -}}
{{- include "library.contract" (merge (dict "files" (dict "hyperparameters.json" (include "library.hyperparameters" .) "inputdataconfig.json" "{\"train\": {\"TrainingInputMode\": \"File\"}}")) $all) }}
{{- include "library.network-policy" .root }}
{{- include "library.pod-group" $all }}
{{- include "library.mpi-job" $all }}
{{- end -}}

{{- /* What is worked out once, as JSON: names, folders, annotations. Takes root, algorithm and machine. */ -}}
{{- define "library.job" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $shared := $values.global.shared_fs -}}
{{- $data_fs := default $shared $values.maskrcnn.data_fs -}}
{{- $longest := printf "%s-worker-%d" $root.Release.Name (sub (int64 .machine.nodes) 1) -}}
{{- if or (gt (len $longest) 63) (not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $longest)) -}}
{{- fail (printf "release %s: its pods would be %s and the like: expected at most 63 small letters, digits and -, the first a letter" $root.Release.Name $longest) -}}
{{- end -}}
{{- include "library.settle-log" $root -}}
{{- include "library.check-folder" (dict "key" "job.log" "folder" $values.job.log "below" (list $shared)) -}}
{{- $mounts := dict $shared "read-write" -}}
{{- $data := "/scratch/data" -}}
{{- if not $values.job.s3.source -}}
{{- $below := default (printf "%smask-rcnn/sagemaker/input/train" (ternary "data/" "" (eq $data_fs "fsx"))) $values.maskrcnn.data_dir -}}
{{- $data = default (printf "/%s/%s" $data_fs $below) $values.job.data -}}
{{- include "library.check-folder" (dict "key" (ternary "job.data" "maskrcnn.data_dir" (ne $values.job.data "")) "folder" $data "below" (list $shared $data_fs | uniq)) -}}
{{- if ne $data_fs $shared -}}{{ $_ := set $mounts $data_fs "read-only" }}{{- end -}}
{{- else if $values.job.data -}}
{{- fail (printf "job.data: %s: with job.s3.source the data comes to %s: leave it out" $values.job.data $data) -}}
{{- else if and (ne .algorithm "horovod") (not $values.job.s3.image) -}}
{{- fail (printf "job.s3.image: the image of %s cannot copy from S3: give the horovod image" .algorithm) -}}
{{- end -}}
{{- include "library.check-image" (dict "key" "job.s3.image" "image" $values.job.s3.image) -}}
{{- $name := default $root.Release.Name $values.job.name -}}
{{- $image := include "library.image" (dict "root" $root "given" $values.maskrcnn.image "key" "maskrcnn.image" "algorithm" .algorithm) -}}
{{- $noted := dict "mask-rcnn/job" $name "mask-rcnn/log" $values.job.log "mask-rcnn/data" (default $data $values.job.s3.source) "mask-rcnn/tags" (include "library.texts" $values.job.tags) -}}
{{- dict "name" $name "image" $image "data" $data "mounts" $mounts "noted" $noted | toJson -}}
{{- end -}}

{{- /* Give the log folder its name, once: the same in all that a release renders, and in its later revisions. */ -}}
{{- define "library.settle-log" -}}
{{- if not .Values.job.log -}}
{{- $there := lookup "v1" "ConfigMap" .Values.global.namespace (printf "%s-job" .Release.Name) | dig "metadata" "annotations" "mask-rcnn/log" "" -}}
{{- $new := printf "/%s/%s-%s" .Values.global.shared_fs .Chart.Name (dateInZone "2006-01-02-15-04-05" now "UTC") -}}
{{- $_ := set .Values.job "log" (default $new $there) -}}
{{- end -}}
{{- end -}}

{{- /* The files that pods find in /opt/ml/input/config. Takes root, job and files, a map of name to text. */ -}}
{{- define "library.contract" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "library.metadata" (dict "root" .root "name" (printf "%s-job" .root.Release.Name) "annotations" .job.noted) | nindent 2 }}
data:
  {{- toYaml .files | nindent 2 }}
{{- end -}}

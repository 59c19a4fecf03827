{{/* What a schema cannot say: each problem is one message with the key, the value and what is
allowed. Passwords and tokens are never in it. */}}

{{- define "jupyter.checks" -}}
{{- include "library.check-gone" . -}}
{{- include "jupyter.checks.sources" . -}}
{{- include "jupyter.checks.folders" . -}}
{{- include "jupyter.checks.image" . -}}
{{- include "jupyter.checks.room" . -}}
{{- include "jupyter.checks.password" . -}}
{{- include "jupyter.checks.token" . -}}
{{- include "jupyter.checks.certificate" . -}}
{{- end }}

{{- define "jupyter.checks.sources" -}}
{{- $sources := splitList "\n" (include "jupyter.sources" . | trim) | compact -}}
{{- if not $sources -}}
{{- fail "global.source_cidr is required: the IPv4 network that browsers connect from, such as 203.0.113.7/32" -}}
{{- end -}}
{{- range $sources -}}
{{- $number := "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])" -}}
{{- if not (regexMatch (printf "^%s(\\.%s){3}/(3[0-2]|[12]?[0-9])$" $number $number) .) -}}
{{- fail (printf "global.source_cidr: %s: must be an IPv4 network with its prefix, such as 203.0.113.7/32" .) -}}
{{- end -}}
{{- /* Two halves of the internet are as open as the whole of it. */ -}}
{{- if and (lt (splitList "/" . | last | int) 8) (not $.Values.global.allow_open_cidr) -}}
{{- fail (printf "global.source_cidr: %s opens Jupyter, which runs what it is given, to everyone: take /8 or narrower, or set global.allow_open_cidr=true" .) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "jupyter.checks.folders" -}}
{{- $global := .Values.global -}}
{{- if not $global.log_dir -}}
{{- fail (printf "global.log_dir is required: the job's log folder below the root of %s, such as maskrcnn-2026-11-29-01-02-03" $global.shared_fs) -}}
{{- end -}}
{{- range $key := list "log_dir" "data_dir" -}}
{{- $folder := get $global $key -}}
{{- if and $folder (not (regexMatch "^[A-Za-z0-9_][A-Za-z0-9._=+@-]*(/[A-Za-z0-9_][A-Za-z0-9._=+@-]*)*$" $folder)) -}}
{{- fail (printf "global.%s: %s: must be a path below the root of the file system, without / at its ends and without .., such as a/b" $key $folder) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "jupyter.checks.image" -}}
{{- $pushed := lookup "v1" "ConfigMap" .Values.global.namespace "mask-rcnn-images" | dig "data" dict -}}
{{- if and (not .Values.image) (not (get $pushed "notebook")) (include "library.connected" .) -}}
{{- fail "image: none was given, and none was pushed: python -m training.images push --algorithm horovod --variant notebook, then --set image= with the name that it prints" -}}
{{- end -}}
{{- end }}

{{/* The three containers are one pod, on one node. */}}
{{- define "jupyter.checks.room" -}}
{{- with .Values.jupyter.gpu_instance_type -}}
{{- $proxy := include "jupyter.proxy.room" $ | fromYaml -}}
{{- $cpu := dict "jupyter.cpu" $.Values.jupyter.cpu "tensorboard.cpu" $.Values.tensorboard.cpu "the proxy" $proxy.cpu -}}
{{- $memory := dict "jupyter.memory" $.Values.jupyter.memory "tensorboard.memory" $.Values.tensorboard.memory "the proxy" $proxy.memory -}}
{{- include "library.check-room" (dict "type" . "cpu" $cpu "memory" $memory) -}}
{{- end -}}
{{- end }}

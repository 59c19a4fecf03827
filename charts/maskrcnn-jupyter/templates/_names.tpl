{{/* What things are called, and where they lie. */}}

{{- define "jupyter.name" -}}
{{ .Values.global.name | default .Chart.Name }}
{{- end }}

{{- define "jupyter.tokenSecret" -}}
{{ .Values.jupyter.token_secret | default (printf "%s-token" (include "jupyter.name" .)) }}
{{- end }}

{{- define "jupyter.passwordSecret" -}}
{{ .Values.htpasswd_secret | default (printf "%s-htpasswd" (include "jupyter.name" .)) }}
{{- end }}

{{- define "jupyter.certificateSecret" -}}
{{ .Values.tls.secret | default (printf "%s-tls" (include "jupyter.name" .)) }}
{{- end }}

{{/* The file systems that are mounted, each once. */}}
{{- define "jupyter.fileSystems" -}}
{{ list .Values.global.shared_fs (.Values.global.data_fs | default .Values.global.shared_fs) | uniq | join " " }}
{{- end }}

{{/* What was given, else what `python -m training.kubernetes install` found pushed. */}}
{{- define "jupyter.image" -}}
{{ include "library.image" (dict "root" . "given" .Values.image "key" "image" "algorithm" "notebook") }}
{{- end }}

{{- define "jupyter.logFolder" -}}
/{{ .Values.global.shared_fs }}/{{ .Values.global.log_dir }}
{{- end }}

{{/* On FSx the data repository of StorageStack is the folder `data`. */}}
{{- define "jupyter.dataFolder" -}}
{{- $fs := .Values.global.data_fs | default .Values.global.shared_fs -}}
{{- $staged := printf "%smask-rcnn/sagemaker/input/train" (eq $fs "fsx" | ternary "data/" "") -}}
/{{ $fs }}/{{ .Values.global.data_dir | default $staged }}
{{- end }}

{{/* The networks of source_cidr, one a line. */}}
{{- define "jupyter.sources" -}}
{{- $given := .Values.global.source_cidr -}}
{{- $all := kindIs "slice" $given | ternary $given (splitList "," (toString $given)) -}}
{{- range $all }}{{ with trim . }}{{ . }}
{{ end }}{{ end -}}
{{- end }}

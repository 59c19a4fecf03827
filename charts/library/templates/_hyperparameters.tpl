{{- /* The hyperparameters, as the JSON object that the image's entry point reads: names and texts. Takes root and algorithm. */ -}}
{{- define "library.hyperparameters" -}}
{{- $job := .root.Values.job -}}
{{- $out := dict -}}
{{- if not $job.hyperparameters_complete -}}
{{- include "library.check-hyperparameters" . -}}
{{- range $key, $name := get (include "library.tables" . | fromJson).hyperparameters .algorithm -}}
{{- $value := get $.root.Values.maskrcnn $key -}}
{{- if not (or (kindIs "invalid" $value) (eq (toString $value) "")) -}}
{{- $_ := set $out $name (include "library.text" $value) -}}
{{- end -}}
{{- end -}}
{{- if get .root.Values.maskrcnn "base_lr" -}}
{{- $_ := set $out "config:TRAIN.BASE_LR" (include "library.text" .root.Values.maskrcnn.base_lr) -}}
{{- end -}}
{{- range include "library.extra-config" . | fromJsonArray -}}
{{- $_ := set $out (printf "config:%s" (regexFind "^[^=]+" .)) (regexReplaceAll "^[^=]+=" . "") -}}
{{- end -}}
{{- end -}}
{{- /* Not merge, for which an empty text is none. */ -}}
{{- range $name, $value := $job.hyperparameters -}}{{ $_ := set $out $name (include "library.text" $value) }}{{- end -}}
{{- toRawJson $out -}}
{{- end -}}

{{- /* A value as text that a job reads: Python's spelling of truth, no exponent where a number is whole. */ -}}
{{- define "library.text" -}}
{{- if kindIs "bool" . -}}{{ ternary "True" "False" . }}
{{- else if kindIs "string" . -}}{{ . }}
{{- else if kindIs "slice" . -}}{{ toRawJson . }}
{{- else if eq (float64 .) (float64 (int64 .)) -}}{{ int64 . }}
{{- else -}}{{ toString . }}
{{- end -}}
{{- end -}}

{{- /* A map whose values are texts, as JSON: --set reads 7 as a number. */ -}}
{{- define "library.texts" -}}
{{- $out := dict -}}
{{- range $name, $value := . -}}{{ $_ := set $out $name (include "library.text" $value) }}{{- end -}}
{{- toRawJson $out -}}
{{- end -}}

{{- /* What no rule for one key can say. */ -}}
{{- define "library.check-hyperparameters" -}}
{{- $values := .root.Values.maskrcnn -}}
{{- if and (get $values "lr_schedule") (get $values "lr_epoch_schedule") -}}
{{- fail "maskrcnn.lr_schedule and maskrcnn.lr_epoch_schedule: give one of them" -}}
{{- end -}}
{{- range $key := list "backbone_weights" "load_model" -}}
{{- if contains "pretrained-models/" (default "" (get $values $key)) -}}
{{- fail (printf "maskrcnn.%s: %s: give the file's name in pretrained-models of the data, not its path" $key (get $values $key)) -}}
{{- end -}}
{{- end -}}
{{- if and (ne .algorithm "horovod") (eq $values.resnet_arch "resnet101") (contains "R50" $values.backbone_weights) (not $values.load_model) -}}
{{- fail (printf "maskrcnn.backbone_weights: %s is for resnet50; give weights for resnet101, for example ImageNet-R101-AlignPadding.npz" $values.backbone_weights) -}}
{{- end -}}
{{- end -}}

{{- /* extra_config as a JSON list of KEY=VALUE, each of which the implementation knows. */ -}}
{{- define "library.extra-config" -}}
{{- $given := .root.Values.maskrcnn.extra_config -}}
{{- $known := get (include "library.tables" . | fromJson).configuration .algorithm -}}
{{- $pairs := kindIs "string" $given | ternary (list $given | compact) $given -}}
{{- range $pairs -}}
{{- if not (regexMatch "^[A-Z][A-Z0-9_]*([.][A-Z][A-Z0-9_]*)*=." .) -}}
{{- fail (printf "maskrcnn.extra_config: %q: expected KEY=VALUE, for example TRAIN.GRADIENT_CLIP=0.36" .) -}}
{{- end -}}
{{- $key := regexFind "^[^=]+" . -}}
{{- if $known -}}
{{- with get $known.instead $key -}}
{{- fail (printf "maskrcnn.extra_config: %s: %s" $key .) -}}
{{- end -}}
{{- if not (has $key $known.keys) -}}
{{- fail (printf "maskrcnn.extra_config: %s: the implementation has no such key that a job may set" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toRawJson $pairs -}}
{{- end -}}

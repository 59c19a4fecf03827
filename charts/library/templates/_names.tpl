{{- /* Names and labels. Each takes a chart's own context. */ -}}

{{- define "library.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/part-of: mask-rcnn
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- /* What selects a release's pods. */ -}}
{{- define "library.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "library.metadata" -}}
{{- /* Takes root, name and perhaps annotations, a map. */ -}}
name: {{ .name | quote }}
namespace: {{ .root.Values.global.namespace | quote }}
labels:
  {{- include "library.labels" .root | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* "true" where Helm talks to a cluster that has the namespace: `helm template` talks to none. */ -}}
{{- define "library.connected" -}}
{{- if lookup "v1" "Namespace" "" .Values.global.namespace }}true{{ end -}}
{{- end -}}

{{- /* The claim of a file system; takes root and fs. Refuses one that the cluster lacks. */ -}}
{{- define "library.claim" -}}
{{- $values := .root.Values -}}
{{- $claim := printf "mask-rcnn-%s" .fs -}}
{{- if eq .fs (get $values.global "shared_fs") -}}
{{- $claim = default $claim (get $values.global "shared_pvc") -}}
{{- end -}}
{{- $namespace := $values.global.namespace -}}
{{- if and (include "library.connected" .root) (not (lookup "v1" "PersistentVolumeClaim" $namespace $claim)) -}}
{{- $why := "run python -m training.kubernetes install" -}}
{{- if eq .fs "fsx" -}}
{{- $why = printf "StorageStack was deployed with fsx = none, or python -m training.kubernetes install has not run. %s, or make an FSx" "Take efs (--set global.shared_fs=efs, in stage-data and attach --set volumes.fsx=false)" -}}
{{- end -}}
{{- fail (printf "%s: namespace %s has no volume claim %s: %s" .fs $namespace $claim $why) -}}
{{- end -}}
{{- $claim -}}
{{- end -}}

{{- /* The image: what was given, else what `python -m training.kubernetes install` found pushed. Takes root, given, key (of the
value) and algorithm. Without a cluster to ask, a name that no registry has, and that says what to do. */ -}}
{{- define "library.image" -}}
{{- $pushed := dict -}}
{{- if not .given -}}
{{- $pushed = lookup "v1" "ConfigMap" .root.Values.global.namespace "mask-rcnn-images" | dig "data" dict -}}
{{- end -}}
{{- if .given -}}
{{- include "library.check-image" (dict "key" .key "image" .given) -}}
{{- .given -}}
{{- else if get $pushed .algorithm -}}
{{- get $pushed .algorithm -}}
{{- else if include "library.connected" .root -}}
{{- $instead := printf "python -m training.images push --algorithm %s, then python -m training.kubernetes install; or --set %s=REGISTRY/REPOSITORY:TAG" .algorithm .key -}}
{{- fail (printf "%s: no image was given, and namespace %s knows none of %s: %s" .key .root.Values.global.namespace .algorithm $instead) -}}
{{- else -}}
{{- printf "image-not-set.invalid/%s:set-%s" .algorithm .key -}}
{{- end -}}
{{- end -}}

{{- /* Refuse an image that will be another one tomorrow; takes key and image. The schema has seen to the rest. */ -}}
{{- define "library.check-image" -}}
{{- if hasSuffix ":latest" .image -}}
{{- fail (printf "%s: %s: must end with a digest or a tag other than latest, so that it stays the same" .key .image) -}}
{{- end -}}
{{- end -}}

{{- /* Refuse keys of the old charts, with what there is instead. Takes a chart's context. */ -}}
{{- define "library.check-gone" -}}
{{- range $path, $instead := (include "library.tables" . | fromJson).gone -}}
{{- $keys := splitList "." $path -}}
{{- $place := ternary $.Values (get $.Values (first $keys) | default dict) (eq (len $keys) 1) -}}
{{- if hasKey $place (last $keys) -}}
{{- fail (printf "%s: there is no such key any more: %s" $path $instead) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Refuse a folder that leads out of its place; takes folder, key and below, a list of roots. */ -}}
{{- define "library.check-folder" -}}
{{- $folder := .folder -}}
{{- $inside := false -}}
{{- range .below }}{{ if hasPrefix (printf "/%s/" .) $folder }}{{ $inside = true }}{{ end }}{{ end -}}
{{- if or (not $inside) (regexMatch "/[.][.]?(/|$)" $folder) -}}
{{- fail (printf "%s: %s: expected a folder below /%s, with no part . or .." .key $folder (join " or /" .below)) -}}
{{- end -}}
{{- end -}}

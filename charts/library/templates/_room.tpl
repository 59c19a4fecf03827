{{- /* Whether a pod's requests fit on its node. */ -}}

{{- /* Refuse what no node of a type can have free, since such a pod would wait for ever. Takes type, and cpu and memory: maps of
a value's key to its quantity, which are in one pod together. The node's own pods and Kubernetes need a part of each. */ -}}
{{- define "library.check-room" -}}
{{- $instance := get (include "library.tables" . | fromJson).instances .type -}}
{{- $cpu := 0 -}}
{{- range .cpu }}{{ $cpu = add $cpu (include "library.millicores" . | int64) }}{{ end -}}
{{- if ge $cpu (mul 1000 (int64 $instance.vcpus)) -}}
{{- fail (printf "%s: the pod would ask for %s core(s), and a %s has %d, less what Kubernetes needs: ask for less" (include "library.asked" .cpu) (divf $cpu 1000 | toString) .type (int64 $instance.vcpus)) -}}
{{- end -}}
{{- $memory := 0 -}}
{{- range .memory }}{{ $memory = add $memory (include "library.mib" . | int64) }}{{ end -}}
{{- if ge $memory (int64 $instance.memory_mib) -}}
{{- fail (printf "%s: the pod would ask for %d MiB, and a %s has %d, less what Kubernetes needs: ask for less" (include "library.asked" .memory) $memory .type (int64 $instance.memory_mib)) -}}
{{- end -}}
{{- end -}}

{{- /* A map of key to quantity as a message names it: resources.cpu: 96. */ -}}
{{- define "library.asked" -}}
{{- $parts := list -}}
{{- range $key, $quantity := . }}{{ $parts = append $parts (printf "%s: %s" $key (include "library.text" $quantity)) }}{{ end -}}
{{- join ", " $parts -}}
{{- end -}}

{{- /* Thousandths of a core. */ -}}
{{- define "library.millicores" -}}
{{- $text := include "library.text" . -}}
{{- mulf (trimSuffix "m" $text | float64) (hasSuffix "m" $text | ternary 1 1000) | int64 -}}
{{- end -}}

{{- define "library.mib" -}}
{{- $kib := dict "Ki" 1 "Mi" 1024 "Gi" 1048576 "Ti" 1073741824 -}}
{{- divf (mulf (regexFind "^[0-9.]+" . | float64) (get $kib (regexFind "[A-Z]i$" .))) 1024 | int64 -}}
{{- end -}}

{{- /* What a job runs on, as JSON: nodes, processes of each, and what a worker asks for. Takes root and algorithm. */ -}}
{{- define "library.machine" -}}
{{- $values := .root.Values.maskrcnn -}}
{{- $asked := .root.Values.resources -}}
{{- $type := $values.gpu_instance_type -}}
{{- $instance := get (include "library.tables" . | fromJson).instances $type -}}
{{- if and $values.nodes $values.gpu_nodes (ne (int64 $values.nodes) (int64 $values.gpu_nodes)) -}}
{{- fail (printf "maskrcnn.nodes: %d, but maskrcnn.gpu_nodes, its old name, is %d: give one of them" (int64 $values.nodes) (int64 $values.gpu_nodes)) -}}
{{- end -}}
{{- $nodes := coalesce $values.nodes $values.gpu_nodes 2 | int64 -}}
{{- $gpus := default $instance.gpus $values.gpus_per_node | int64 -}}
{{- if gt $gpus (int64 $instance.gpus) -}}
{{- fail (printf "maskrcnn.gpus_per_node: %d: %s has %d" $gpus $type (int64 $instance.gpus)) -}}
{{- end -}}
{{- if and $values.gpus (ne (int64 $values.gpus) (mul $nodes $gpus)) -}}
{{- fail (printf "maskrcnn.gpus: %d: %d node(s) of %d GPU(s) have %d. Leave it out, or change maskrcnn.nodes, maskrcnn.gpus_per_node or maskrcnn.gpu_instance_type" (int64 $values.gpus) $nodes $gpus (mul $nodes $gpus)) -}}
{{- end -}}
{{- $asked_processes := .root.Values.job.processes_per_node -}}
{{- if and $asked_processes (gt (int64 $asked_processes) $gpus) -}}
{{- fail (printf "job.processes_per_node: %d: each process trains on a GPU of its own, and a worker has %d: give %d or fewer" (int64 $asked_processes) $gpus $gpus) -}}
{{- end -}}
{{- $least := get .root.Values.job "least_nodes" -}}
{{- if and $least (ne .root.Values.job.distribution "elastic") -}}
{{- fail (printf "job.least_nodes: %d: only job.distribution elastic goes on with fewer nodes: take it, or leave this out" (int64 $least)) -}}
{{- end -}}
{{- if and $least (gt (int64 $least) $nodes) -}}
{{- fail (printf "job.least_nodes: %d: the job has %d node(s), and would wait for ever: give %d or fewer" (int64 $least) $nodes $nodes) -}}
{{- end -}}
{{- $processes := default $gpus .root.Values.job.processes_per_node | int64 -}}
{{- $world := mul $nodes $processes -}}
{{- if and (ne .algorithm "horovod") (not (has (toString $world) (list "1" "2" "4"))) (ne (mod $world 8) 0) -}}
{{- fail (printf "maskrcnn: %d node(s) of %d process(es) are %d: algorithm %s trains on 1, 2, 4 or a multiple of 8; change maskrcnn.nodes, maskrcnn.gpus_per_node or maskrcnn.gpu_instance_type" $nodes $processes $world .algorithm) -}}
{{- end -}}
{{- /* A part of a node's GPUs goes with the same part of the rest. */ -}}
{{- $cpu := max 1 (div (mul (int64 $instance.cpu) $gpus) (int64 $instance.gpus)) -}}
{{- $memory := div (mul (int64 $instance.memory) $gpus) (int64 $instance.gpus) -}}
{{- $shm := div (mul (int64 $instance.shm) $gpus) (int64 $instance.gpus) -}}
{{- $efa := div (mul (int64 $instance.efa) $gpus) (int64 $instance.gpus) -}}
{{- if not (kindIs "invalid" $asked.efa) -}}
{{- if gt (int64 $asked.efa) $efa -}}
{{- fail (printf "resources.efa: %d: %d GPU(s) of a %s come with %d" (int64 $asked.efa) $gpus $type $efa) -}}
{{- end -}}
{{- $efa = int64 $asked.efa -}}
{{- end -}}
{{- /* Whole pages of 2 MiB. */ -}}
{{- $huge := ternary (mul 2 (div (mul (int64 $instance.hugepages) $gpus) (mul 2 (int64 $instance.gpus)))) 0 (gt $efa 0) -}}
{{- $resources := dict "nvidia.com/gpu" $gpus "cpu" (default $cpu $asked.cpu) "memory" (default (printf "%dMi" $memory) $asked.memory) -}}
{{- include "library.check-room" (dict "type" $type "cpu" (dict "resources.cpu" $resources.cpu) "memory" (dict "resources.memory" $resources.memory)) -}}
{{- if gt $efa 0 -}}
{{- $_ := set $resources "vpc.amazonaws.com/efa" $efa -}}
{{- end -}}
{{- if or $asked.hugepages (gt $huge 0) -}}
{{- $_ := set $resources "hugepages-2Mi" (default (printf "%dMi" $huge) $asked.hugepages) -}}
{{- end -}}
{{- dict "type" $type "nodes" $nodes "processes" $processes "resources" $resources "shm" (default (printf "%dMi" $shm) $asked.shm) | toJson -}}
{{- end -}}

{{- define "library.training-notes" -}}
{{- $values := .root.Values -}}
{{- $machine := include "library.machine" . | fromJson -}}
{{- include "library.settle-log" .root -}}
{{- $name := .root.Release.Name -}}
{{- $namespace := $values.global.namespace -}}
{{ .algorithm }} on {{ $machine.nodes }} x {{ $machine.type }}, {{ mul (int64 $machine.nodes) (int64 $machine.processes) }} processes. Nodes come within minutes where there is capacity; the launcher says for whom it waits.

  Watch:   kubectl get pods -n {{ $namespace }} -l app.kubernetes.io/instance={{ $name }}
           kubectl logs -f -n {{ $namespace }} job/{{ $name }}-launcher
  Logs:    {{ $values.job.log }}, which stays
  Look:    python -m training.kubernetes attach
  Stop:    python -m training.jobs stop {{ $name }} --platform eks   (saves a checkpoint)
  Remove:  helm uninstall {{ $name }} -n {{ .root.Release.Namespace }}
{{- end -}}

{{- /* The MPIJob; the operator makes the pods of it: https://github.com/kubeflow/mpi-operator. Takes root, algorithm, machine
and job. */ -}}
{{- define "library.mpi-job" }}
{{- $values := .root.Values }}
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  {{- $noted := merge (dict "mask-rcnn/fingerprint" $values.job.fingerprint "mask-rcnn/algorithm" .algorithm "mask-rcnn/image" .job.image "mask-rcnn/instance-type" .machine.type "mask-rcnn/nodes" (toString .machine.nodes)) .job.noted }}
  {{- include "library.metadata" (dict "root" .root "name" .root.Release.Name "annotations" $noted) | nindent 2 }}
spec:
  mpiImplementation: OpenMPI
  slotsPerWorker: {{ .machine.processes }}
  runLauncherAsWorker: false
  # The launcher waits by itself, for a while, and says for whom.
  launcherCreationPolicy: AtStartup
  # Not /root/.ssh, which root alone may read.
  sshAuthMountPath: /etc/mask-rcnn/ssh
  runPolicy:
    cleanPodPolicy: Running
    backoffLimit: {{ int64 $values.job.retries }}
    # Then the launcher gets SIGTERM, saves, and is not started again.
    activeDeadlineSeconds: {{ add (int64 $values.job.max_run_s) (int64 $values.job.workers_wait_s) }}
    {{- if not (kindIs "invalid" $values.job.ttl_s) }}
    ttlSecondsAfterFinished: {{ int64 $values.job.ttl_s }}
    {{- end }}
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      # A new pod each time, so that the log of every try stays.
      restartPolicy: Never
      template:
        {{- include "library.launcher" . | nindent 8 }}
    Worker:
      replicas: {{ .machine.nodes }}
      # What dies comes back in its place.
      restartPolicy: OnFailure
      template:
        {{- include "library.worker" . | nindent 8 }}
{{- end -}}

{{- define "library.launcher" -}}
{{- $values := .root.Values -}}
metadata:
  {{- include "library.pod-metadata" (merge (dict "gang" "none") .) | nindent 2 }}
spec:
  {{- include "library.pod-start" . | nindent 2 }}
  nodeSelector:
    mask-rcnn/node: system
  containers:
    - name: launcher
      args: [launcher]
      {{- include "library.container-start" . | nindent 6 }}
      env:
        {{- include "library.job-variables" (merge (dict "environment" dict) .) | nindent 8 }}
      resources:
        {{- include "library.resources" $values.launcher | nindent 8 }}
      volumeMounts:
        {{- include "library.job-mounts" . | nindent 8 }}
  volumes:
    {{- include "library.job-volumes" . | nindent 4 }}
{{- end -}}

{{- define "library.worker" -}}
{{- $values := .root.Values -}}
metadata:
  {{- include "library.pod-metadata" (merge (dict "gang" $values.gang.scheduler) .) | nindent 2 }}
spec:
  {{- include "library.pod-start" . | nindent 2 }}
  {{- with include "library.gang-scheduler" .root }}
  {{- . | nindent 2 }}
  {{- end }}
  nodeSelector:
    node.kubernetes.io/instance-type: {{ .machine.type }}
  tolerations:
    - key: nvidia.com/gpu
      operator: Exists
      effect: NoSchedule
  {{- with include "library.copy-data" . }}
  {{- . | nindent 2 }}
  {{- end }}
  containers:
    - name: worker
      args: [worker]
      {{- include "library.container-start" . | nindent 6 }}
      env:
        {{- include "library.job-variables" (merge (dict "environment" (include "library.environment" . | fromJson)) .) | nindent 8 }}
      ports:
        - name: ssh
          containerPort: 2222
      resources:
        {{- include "library.resources" .machine.resources | nindent 8 }}
      volumeMounts:
        {{- include "library.job-mounts" . | nindent 8 }}
        - name: shm
          mountPath: /dev/shm
        {{- if $values.job.s3.source }}
        - name: scratch
          mountPath: /scratch
        {{- end }}
  volumes:
    {{- include "library.job-volumes" . | nindent 4 }}
    # The default of 64 MiB ends loaders of data with a bus error.
    - name: shm
      emptyDir:
        medium: Memory
        sizeLimit: {{ .machine.shm }}
    {{- if $values.job.s3.source }}
    - name: scratch
      emptyDir: {}
    {{- end }}
{{- end -}}

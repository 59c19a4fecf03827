{{/* The three programs of the pod, all of one image. */}}

{{- define "jupyter.container.jupyter" -}}
- name: jupyter
  image: {{ include "jupyter.image" . | quote }}
  imagePullPolicy: {{ .Values.image_pull_policy | quote }}
  # How it is reached and what it refuses is in the image: docker/notebook/jupyter_server_config.py
  command: [jupyter-lab]
  args:
    - --ip=127.0.0.1
    - --port=8888
    - --ServerApp.root_dir=/home/mask-rcnn
  env:
    - {name: HOME, value: /home/mask-rcnn}
    - {name: MASK_RCNN_TOKEN_FILE, value: /etc/mask-rcnn/token/token}
    - {name: MASK_RCNN_LOG, value: {{ include "jupyter.logFolder" . | quote }}}
    - {name: MASK_RCNN_DATA, value: {{ include "jupyter.dataFolder" . | quote }}}
  securityContext:
    {{- include "library.container-security" . | nindent 4 }}
  resources:
    {{- $gpu := empty .Values.jupyter.gpu_instance_type | ternary dict (dict "nvidia.com/gpu" 1) }}
    {{- pick .Values.jupyter "cpu" "memory" | merge $gpu | include "library.resources" | nindent 4 }}
  # Without the token it tells its version, and no more.
  {{- include "jupyter.probes" "http://127.0.0.1:8888/api" | nindent 2 }}
  volumeMounts:
    {{- include "jupyter.fileSystemMounts" . | nindent 4 }}
    - {name: home, mountPath: /home/mask-rcnn}
    - {name: jupyter-tmp, mountPath: /tmp}
    - {name: token, mountPath: /etc/mask-rcnn/token, readOnly: true}
{{- end }}

{{- define "jupyter.container.tensorboard" -}}
- name: tensorboard
  image: {{ include "jupyter.image" . | quote }}
  imagePullPolicy: {{ .Values.image_pull_policy | quote }}
  command: [tensorboard]
  args:
    - {{ printf "--logdir=%s" (include "jupyter.logFolder" .) | quote }}
    - --host=127.0.0.1
    - --port=6006
  env:
    - {name: HOME, value: /tmp}
  securityContext:
    {{- include "library.container-security" . | nindent 4 }}
  resources:
    {{- pick .Values.tensorboard "cpu" "memory" | include "library.resources" | nindent 4 }}
  {{- include "jupyter.probes" "http://127.0.0.1:6006/" | nindent 2 }}
  volumeMounts:
    {{- include "jupyter.fileSystemMounts" . | nindent 4 }}
    - {name: tensorboard-tmp, mountPath: /tmp}
{{- end }}

{{- define "jupyter.proxy.room" -}}
{cpu: 500m, memory: 128Mi}
{{- end }}

{{- define "jupyter.container.proxy" -}}
- name: proxy
  image: {{ include "jupyter.image" . | quote }}
  imagePullPolicy: {{ .Values.image_pull_policy | quote }}
  command: [nginx]
  args: [-e, stderr, -c, /etc/mask-rcnn/proxy/nginx.conf]
  ports:
    - {name: jupyter, containerPort: 8443}
    - {name: tensorboard, containerPort: 6443}
  securityContext:
    {{- include "library.container-security" . | nindent 4 }}
  resources:
    {{- include "jupyter.proxy.room" . | fromYaml | include "library.resources" | nindent 4 }}
  readinessProbe:
    tcpSocket: {port: jupyter}
    periodSeconds: 10
  livenessProbe:
    tcpSocket: {port: jupyter}
    periodSeconds: 30
  volumeMounts:
    - {name: proxy-tmp, mountPath: /tmp}
    - {name: proxy, mountPath: /etc/mask-rcnn/proxy, readOnly: true}
    - {name: certificate, mountPath: /etc/mask-rcnn/tls, readOnly: true}
    - {name: password, mountPath: /etc/mask-rcnn/password, readOnly: true}
{{- end }}

{{/* The kubelet cannot reach the pod's loopback: it has the container ask. Takes the address. */}}
{{- define "jupyter.probes" -}}
{{- $ask := printf "import urllib.request; urllib.request.urlopen('%s', timeout=5)" . -}}
readinessProbe:
  exec:
    command: [python3, -c, {{ $ask | quote }}]
  initialDelaySeconds: 5
  periodSeconds: 30
  timeoutSeconds: 10
livenessProbe:
  exec:
    command: [python3, -c, {{ $ask | quote }}]
  initialDelaySeconds: 120
  periodSeconds: 60
  timeoutSeconds: 10
  failureThreshold: 5
{{- end }}

{{- define "jupyter.fileSystemMounts" -}}
{{- range splitList " " (include "jupyter.fileSystems" .) }}
- {name: {{ . }}, mountPath: /{{ . }}, readOnly: true}
{{- end }}
{{- end }}

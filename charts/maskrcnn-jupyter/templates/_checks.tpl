{{/* What a schema cannot say: each problem is one message with the key, the value and what is
allowed. Passwords and tokens are never in it. */}}

{{- define "jupyter.checks" -}}
{{- include "jupyter.checks.sources" . -}}
{{- include "jupyter.checks.folders" . -}}
{{- include "jupyter.checks.image" . -}}
{{- include "jupyter.checks.password" . -}}
{{- include "jupyter.checks.token" . -}}
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
{{- $image := .Values.image -}}
{{- $pushed := lookup "v1" "ConfigMap" .Values.global.namespace "mask-rcnn-images" | dig "data" dict -}}
{{- if and (not $image) (not (get $pushed "notebook")) (include "library.connected" .) -}}
{{- fail "image: none was given, and none was pushed: python -m training.images push --algorithm horovod --variant notebook, then --set image= with the name that it prints" -}}
{{- end -}}
{{- if and $image (or (not (regexMatch "^[^ ]+(@sha256:[0-9a-f]{64}|:[A-Za-z0-9_][A-Za-z0-9_.-]*)$" $image)) (hasSuffix ":latest" $image)) -}}
{{- fail (printf "image: %s: must end with a digest or a tag other than latest, so that it stays the same" $image) -}}
{{- end -}}
{{- end }}

{{/* Of a Secret that exists, its hashes are looked at where the cluster can be asked. */}}
{{- define "jupyter.checks.password" -}}
{{- if eq (empty .Values.htpasswd) (empty .Values.htpasswd_secret) -}}
{{- fail "htpasswd or htpasswd_secret is required, not both: the hash of TensorBoard's password, or a Secret with it. For a hash: htpasswd -nB -C 10 tensorboard" -}}
{{- end -}}
{{- if .Values.htpasswd -}}
{{- include "jupyter.checks.hash" (dict "root" . "place" "htpasswd" "hash" .Values.htpasswd) -}}
{{- else -}}
{{- $place := printf "htpasswd_secret: %s" .Values.htpasswd_secret -}}
{{- with lookup "v1" "Secret" .Values.global.namespace .Values.htpasswd_secret -}}
{{- $lines := splitList "\n" (get (.data | default dict) "htpasswd" | b64dec) | compact -}}
{{- if not $lines -}}
{{- fail (printf "%s has no key htpasswd with lines of user:hash" $place) -}}
{{- end -}}
{{- range $lines -}}
{{- $hash := regexReplaceAll "^[^:]*:" (trim .) "" -}}
{{- include "jupyter.checks.hash" (dict "root" $ "place" $place "hash" $hash) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "jupyter.checks.hash" -}}
{{- $kind := include "jupyter.hashKind" .hash -}}
{{- if eq $kind "unknown" -}}
{{- fail (printf "%s: not a hash that is known here: make one with htpasswd -nB -C 10 tensorboard, and take what is behind the colon; quote it, so that no shell reads its $" .place) -}}
{{- else if and (eq $kind "legacy") (not .root.Values.allowLegacyHash) -}}
{{- fail (printf "%s: hashes of MD5 or SHA-1 and plain texts are guessed quickly, and refused: make one with htpasswd -nB -C 10 tensorboard, or set allowLegacyHash=true" .place) -}}
{{- end -}}
{{- end }}

{{/* bcrypt: at a cost of 4 a guess is too cheap, at 13 and more each of TensorBoard's requests
would take the proxy half a second and more. */}}
{{- define "jupyter.hashKind" -}}
{{- if regexMatch "^\\$2[aby]\\$(0[5-9]|1[0-2])\\$[./A-Za-z0-9]{53}$" . -}}
bcrypt
{{- else if or (regexMatch "^\\$(apr1|1)\\$[./A-Za-z0-9]{1,8}\\$[./A-Za-z0-9]{22}$" .) (regexMatch "^\\{(SHA|SSHA|PLAIN)\\}[^\r\n]+$" .) -}}
legacy
{{- else -}}
unknown
{{- end -}}
{{- end }}

{{- define "jupyter.checks.token" -}}
{{- $token := "^[A-Za-z0-9_-]{32,256}$" -}}
{{- if and .Values.jupyter.token .Values.jupyter.token_secret -}}
{{- fail "jupyter.token and jupyter.token_secret: give one of them, or neither" -}}
{{- end -}}
{{- if and .Values.jupyter.token (not (regexMatch $token .Values.jupyter.token)) -}}
{{- fail "jupyter.token: must be 32 to 256 letters, digits, _ and -" -}}
{{- end -}}
{{- with .Values.jupyter.token_secret -}}
{{- with lookup "v1" "Secret" $.Values.global.namespace . -}}
{{- if not (regexMatch $token (get (.data | default dict) "token" | b64dec | trim)) -}}
{{- fail (printf "jupyter.token_secret: %s: its key token must hold 32 to 256 letters, digits, _ and -" $.Values.jupyter.token_secret) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

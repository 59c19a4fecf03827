{{/* What is wrong with passwords, tokens and certificates, in values or in Secrets of one's own. None
of them is ever in a message. */}}

{{- define "jupyter.checks.password" -}}
{{- include "jupyter.checks.hashIsText" . -}}
{{- if eq (empty .Values.htpasswd) (empty .Values.htpasswd_secret) -}}
{{- fail "htpasswd or htpasswd_secret is required, not both: the hash of TensorBoard's password, or a Secret with it. For a hash: htpasswd -nB -C 10 tensorboard" -}}
{{- end -}}
{{- if .Values.htpasswd -}}
{{- include "jupyter.checks.hash" (dict "root" . "place" "htpasswd" "hash" .Values.htpasswd) -}}
{{- else -}}
{{- $place := printf "htpasswd_secret: %s" .Values.htpasswd_secret -}}
{{- $secret := include "jupyter.secret" (dict "root" . "place" $place "name" .Values.htpasswd_secret) | fromJson -}}
{{- if $secret -}}
{{- $lines := splitList "\n" (get $secret.data "htpasswd" | b64dec | trim) | compact -}}
{{- if not $lines -}}
{{- fail (printf "%s has no key htpasswd with lines of user:hash" $place) -}}
{{- end -}}
{{- range $lines -}}
{{- if not (regexMatch "^[^:[:space:]]+:" .) -}}
{{- fail (printf "%s: its key htpasswd has a line without a user: expected lines of user:hash" $place) -}}
{{- end -}}
{{- $hash := regexReplaceAll "^[^:]*:" (trim .) "" -}}
{{- include "jupyter.checks.hash" (dict "root" $ "place" $place "hash" $hash) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* --set reads {SHA}... as a list, and what follows as a key. */}}
{{- define "jupyter.checks.hashIsText" -}}
{{- $isSplit := kindIs "slice" .Values.htpasswd -}}
{{- range $key, $_ := .Values }}{{ if regexMatch "^[A-Za-z0-9+/]{27,}$" $key }}{{ $isSplit = true }}{{ end }}{{ end -}}
{{- if $isSplit -}}
{{- fail "htpasswd: a hash that begins with { is a list for --set and --set-string: give it with --set-literal, or in a file of values" -}}
{{- end -}}
{{- end }}

{{- define "jupyter.checks.hash" -}}
{{- $kind := include "jupyter.hashKind" .hash -}}
{{- $make := "make one with htpasswd -nB -C 10 tensorboard" -}}
{{- if eq $kind "unknown" -}}
{{- fail (printf "%s: not a hash that is known here: %s, and take what is behind the colon; quote it, so that no shell reads its $" .place $make) -}}
{{- else if eq $kind "cost" -}}
{{- fail (printf "%s: a bcrypt hash of cost %s: expected 5 to 12, since less is guessed quickly, and more takes the proxy half a second for each request: %s" .place (regexFind "[0-9]{2}" (regexFind "\\$[0-9]{2}\\$" .hash)) $make) -}}
{{- else if and (eq $kind "legacy") (not .root.Values.allowLegacyHash) -}}
{{- fail (printf "%s: hashes of MD5 or SHA-1 and plain texts are guessed quickly, and refused: %s, or set allowLegacyHash=true" .place $make) -}}
{{- end -}}
{{- end }}

{{- define "jupyter.hashKind" -}}
{{- if regexMatch "^\\$2[aby]\\$(0[5-9]|1[0-2])\\$[./A-Za-z0-9]{53}$" . -}}
bcrypt
{{- else if regexMatch "^\\$2[aby]\\$[0-9]{2}\\$[./A-Za-z0-9]{53}$" . -}}
cost
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
{{- $place := printf "jupyter.token_secret: %s" . -}}
{{- $secret := include "jupyter.secret" (dict "root" $ "place" $place "name" .) | fromJson -}}
{{- if and $secret (not (regexMatch $token (get $secret.data "token" | b64dec | trim))) -}}
{{- fail (printf "%s: its key token must hold 32 to 256 letters, digits, _ and -" $place) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "jupyter.checks.certificate" -}}
{{- with .Values.tls.secret -}}
{{- $place := printf "tls.secret: %s" . -}}
{{- $secret := include "jupyter.secret" (dict "root" $ "place" $place "name" .) | fromJson -}}
{{- if $secret -}}
{{- range $key, $kind := dict "tls.crt" "CERTIFICATE" "tls.key" "PRIVATE KEY" -}}
{{- if not (contains (printf "%s-----" $kind) (get $secret.data $key | b64dec)) -}}
{{- fail (printf "%s: its key %s must hold a %s in PEM: kubectl create secret tls makes such a Secret" $place $key (lower $kind)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* A Secret of one's own, as JSON, with a map `data`; empty where no cluster can be asked. Takes root,
place (for messages) and name. */}}
{{- define "jupyter.secret" -}}
{{- $secret := dict -}}
{{- $namespace := .root.Values.global.namespace -}}
{{- if include "library.connected" .root -}}
{{- $found := lookup "v1" "Secret" $namespace .name -}}
{{- if not $found -}}
{{- fail (printf "%s: namespace %s has no such Secret: make it first; docs/eks.md says what it holds" .place $namespace) -}}
{{- end -}}
{{- $secret = dict "data" ($found.data | default dict) -}}
{{- end -}}
{{- toJson $secret -}}
{{- end }}

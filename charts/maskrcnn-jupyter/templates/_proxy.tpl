{{/* The proxy's configuration: the only way to Jupyter and TensorBoard, which listen on the pod's
own loopback. It holds no secret: those are files of Secrets. */}}
{{- define "jupyter.proxy" -}}
daemon off;
worker_processes 2;
pid /tmp/nginx.pid;
# Lesser messages quote the request, and a token may be in it.
error_log stderr crit;

events {
    worker_connections 512;
}

http {
    server_tokens off;
    # A host name has 253 characters at most; nginx's own size, a line of the CPU's cache, takes 46:
    # https://nginx.org/en/docs/http/server_names.html#optimization
    server_names_hash_bucket_size 512;
    server_names_hash_max_size 1024;
    # $uri is the address without its query, where a token may be.
    log_format plain '$remote_addr $remote_user [$time_iso8601] $server_port $request_method $uri $status $body_bytes_sent';
    access_log /dev/stdout plain;
    client_body_temp_path /tmp/body;
    proxy_temp_path /tmp/proxy;
    fastcgi_temp_path /tmp/fastcgi;
    uwsgi_temp_path /tmp/uwsgi;
    scgi_temp_path /tmp/scgi;

    ssl_certificate /etc/mask-rcnn/tls/tls.crt;
    ssl_certificate_key /etc/mask-rcnn/tls/tls.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_session_cache shared:tls:2m;
    ssl_session_tickets off;

    proxy_http_version 1.1;
    proxy_buffering off;

    map $http_upgrade $upgraded {
        default upgrade;
        '' close;
    }

    # Whoever asks for another name: a page elsewhere whose name was pointed here, or a scanner.
    server {
        listen 8443 ssl default_server;
        listen 6443 ssl default_server;
        server_name _;
        return 421;
    }

    server {
        listen 8443 ssl;
        {{- include "jupyter.proxy.door" . | nindent 8 }}
        # Of a notebook that is saved or uploaded.
        client_max_body_size 64m;

        location / {
            proxy_pass http://127.0.0.1:8888;
            # Jupyter compares it with the Origin that the browser names.
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Proto https;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $upgraded;
            # A kernel may say nothing for long.
            proxy_read_timeout 1h;
        }
    }

    server {
        listen 6443 ssl;
        {{- include "jupyter.proxy.door" . | nindent 8 }}
        auth_basic "TensorBoard";
        auth_basic_user_file /etc/mask-rcnn/password/htpasswd;
        add_header X-Frame-Options SAMEORIGIN always;

        location / {
            proxy_pass http://127.0.0.1:6006;
            proxy_set_header Host $http_host;
            # A browser sends the cookies of a host to all its ports, Jupyter's too.
            proxy_set_header Cookie "";
            proxy_set_header Authorization "";
        }
    }
}
{{- end }}

{{/* Who may come in by which name. The loopback is `kubectl port-forward`. */}}
{{- define "jupyter.proxy.door" -}}
{{- $hosts := .Values.hosts | default (list "~^[a-z0-9-]+\\.elb\\.[a-z0-9-]+\\.amazonaws\\.com(\\.cn)?$") -}}
server_name localhost {{ join " " $hosts }};
allow 127.0.0.1;
{{- range splitList "\n" (include "jupyter.sources" . | trim) }}
allow {{ . }};
{{- end }}
deny all;
{{- end }}

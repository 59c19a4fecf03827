{{- /* Pods of a release: each other and DNS; and HTTPS where that is wanted. Takes a chart's context. */ -}}
{{- define "library.network-policy" -}}
{{- if .Values.network_policy.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  {{- include "library.metadata" (dict "root" . "name" .Release.Name) | nindent 2 }}
spec:
  podSelector:
    matchLabels:
      {{- include "library.selector" . | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    # On any port: MPI, NCCL, gloo and Horovod choose theirs.
    - from:
        - podSelector:
            matchLabels:
              {{- include "library.selector" . | nindent 14 }}
  egress:
    - to:
        - podSelector:
            matchLabels:
              {{- include "library.selector" . | nindent 14 }}
    - to:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: kube-system
      ports:
        - {protocol: UDP, port: 53}
        - {protocol: TCP, port: 53}
    {{- if .Values.network_policy.https }}
    # S3 and downloads: their addresses change.
    - ports:
        - {protocol: TCP, port: 443}
    # EKS Pod Identity's agent on the node: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html
    - to:
        - ipBlock: {cidr: 169.254.170.23/32}
        - ipBlock: {cidr: fd00:ec2::23/128}
      ports:
        - {protocol: TCP, port: 80}
    {{- end }}
{{- end }}
{{- end -}}

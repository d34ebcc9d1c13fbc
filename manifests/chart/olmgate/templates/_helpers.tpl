{{/* Labels of every object. Give a dict with "root" and "component". */}}
{{- define "olmgate.labels" -}}
app.kubernetes.io/name: olmgate
app.kubernetes.io/part-of: olmgate
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Labels by which the webhook's pods are found. They can never change. */}}
{{- define "olmgate.selector" -}}
app.kubernetes.io/name: olmgate
app.kubernetes.io/component: webhook
{{- end }}

{{/* The same for the pods of the status writer. */}}
{{- define "olmgate.selector.statusWriter" -}}
app.kubernetes.io/name: olmgate
app.kubernetes.io/component: status-writer
{{- end }}

{{/* Whether the status writer is a Deployment of its own, and whether it is in the webhook's process. */}}
{{- define "olmgate.statusWriter.deployed" -}}
{{ if and .Values.statusWriter.enabled (not .Values.statusWriter.inProcess) }}true{{ end }}
{{- end }}
{{- define "olmgate.statusWriter.inProcess" -}}
{{ if and .Values.statusWriter.enabled .Values.statusWriter.inProcess }}true{{ end }}
{{- end }}

{{/* Flags about what the status writer writes, those that are not the default. */}}
{{- define "olmgate.statusWriter.flags" -}}
{{- if ne .Values.statusWriter.conditions "own" }}
- --conditions={{ .Values.statusWriter.conditions }}
{{- end }}
{{- if ne (float64 .Values.statusWriter.writesPerSecond) 20.0 }}
- --status-write-rate={{ .Values.statusWriter.writesPerSecond }}
{{- end }}
{{- end }}

{{- define "olmgate.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{/* The group that goes past olmgate: the configuration's, so that the conditions of the webhook agree with it. */}}
{{- define "olmgate.breakGlassGroup" -}}
{{- dig "breakGlass" "group" "olmgate:break-glass" .Values.config -}}
{{- end }}

{{- define "olmgate.openshift" -}}
{{ if eq .Values.certificates.source "OpenShift" }}true{{ end }}
{{- end }}

{{- define "olmgate.podSecurityContext" -}}
runAsNonRoot: true
{{- if not (include "olmgate.openshift" .) }}
{{- with get .Values "runAsUser" }}
runAsUser: {{ int . }}
runAsGroup: {{ int . }}
fsGroup: {{ int . }}
{{- end }}
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "olmgate.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Startup and liveness depend on nobody else: a restart heals nothing that another part of the cluster is to blame
     for. */}}
{{- define "olmgate.probes" -}}
startupProbe:
  httpGet:
    path: /healthz
    port: health
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet:
    path: /healthz
    port: health
  periodSeconds: 20
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet:
    path: /readyz
    port: health
  periodSeconds: 5
  timeoutSeconds: 2
  failureThreshold: 3
{{- end }}

{{/* The volume with the CA that signs catalogd's certificate. */}}
{{- define "olmgate.catalogdCA" -}}
name: catalogd-ca
{{- if include "olmgate.openshift" . }}
configMap:
  name: olmgate-service-ca
  optional: true
  items:
    - key: service-ca.crt
      path: ca.crt
{{- else }}
secret:
  secretName: {{ .Values.catalogd.caSecret | default "olmgate-catalogd-ca" }}
  # Without it olmgate starts, says that catalogd's certificate is not trusted, and reads the file once it is there.
  optional: true
  items:
    - key: ca.crt
      path: ca.crt
{{- end }}
{{- end }}

{{/* The volume with the token, which Kubernetes would mount by itself. */}}
{{- define "olmgate.apiAccess" -}}
name: api-access
projected:
  sources:
    - serviceAccountToken:
        path: token
        expirationSeconds: 3607
    - configMap:
        name: kube-root-ca.crt
        items:
          - key: ca.crt
            path: ca.crt
    - downwardAPI:
        items:
          - path: namespace
            fieldRef:
              fieldPath: metadata.namespace
{{- end }}

{{/* A role and its binding. Give a dict with "root", "component", "name", "account", "cluster", "rules", "annotations",
     and "namespace" for one other than the release's. */}}
{{- define "olmgate.role" -}}
{{- $kind := ternary "ClusterRole" "Role" .cluster -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  {{- if not .cluster }}
  namespace: {{ get . "namespace" | default .root.Release.Namespace }}
  {{- end }}
  labels:
    {{- include "olmgate.labels" . | nindent 4 }}
  {{- with get . "annotations" }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
rules:
  {{- .rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name }}
  {{- if not .cluster }}
  namespace: {{ get . "namespace" | default .root.Release.Namespace }}
  {{- end }}
  labels:
    {{- include "olmgate.labels" . | nindent 4 }}
  {{- with get . "annotations" }}
  annotations:
    {{- . | nindent 4 }}
  {{- end }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ .account }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

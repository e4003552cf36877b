{{/* Ports of every container, where the service has them. */}}
{{- define "longwave.ports" -}}
http: 8080
grpc: 8443
health: 9090
{{- end }}

{{/* The beginning of all names: the release, which says what it is of. With the longest ending, a name has 63 letters. */}}
{{- define "longwave.fullname" -}}
{{- if contains "longwave" .Release.Name }}{{ .Release.Name | trunc 36 | trimSuffix "-" }}{{ else }}{{ printf "%s-longwave" .Release.Name | trunc 36 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* What libs/services says about each service. */}}
{{- define "longwave.services" -}}
{{ .Files.Get "files/services.json" }}
{{- end }}

{{/* Values of one service over those of all. Takes root and name. */}}
{{- define "longwave.valuesOf" -}}
{{- $own := index .root.Values.services .name | default dict }}
{{- mustMergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own) | toJson }}
{{- end }}

{{/* Labels by which pods of a service are found. Takes root and name. */}}
{{- define "longwave.selector" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{/* Takes root and name. */}}
{{- define "longwave.labels" -}}
{{ include "longwave.selector" . }}
app.kubernetes.io/part-of: longwave
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{/* Takes root and name. */}}
{{- define "longwave.image" -}}
{{ .root.Values.image.repository }}/{{ .name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}{{ with index .root.Values.image.digests .name }}@{{ . }}{{ end }}
{{- end }}

{{/* Secret with the logins of a service: DATABASE_URL, REDIS_URL, S3_ACCESS_KEY, S3_SECRET_KEY. Takes root, name and values. */}}
{{- define "longwave.loginSecret" -}}
{{ .values.secretName | default (printf "%s-%s" (include "longwave.fullname" .root) .name) }}
{{- end }}

{{- define "longwave.keysSecret" -}}
{{ .Values.secrets.keys | default (printf "%s-keys" (include "longwave.fullname" .)) }}
{{- end }}

{{/* The host name of an address. */}}
{{- define "longwave.host" -}}
{{ (urlParse .).hostname | lower }}
{{- end }}

{{/* Pods that may not do anything to their node. */}}
{{- define "longwave.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "longwave.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

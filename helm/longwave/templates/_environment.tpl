{{/* Variables that the chart makes for a service, as JSON: name → members of an EnvVar. Takes root, service and values. */}}
{{- define "longwave.environment" -}}
{{- $root := .root }}
{{- $service := .service }}
{{- $ports := include "longwave.ports" . | fromYaml }}
{{- $full := include "longwave.fullname" $root }}
{{- $logins := include "longwave.loginSecret" (dict "root" $root "name" $service.name "values" .values) | trim }}
{{- $keys := include "longwave.keysSecret" $root | trim }}
{{- $text := dict
  "NODE_ENV" "production"
  "HEALTH_LISTEN" (printf "$(POD_IP):%v" $ports.health)
  "TLS_CA" "/run/longwave/tls/ca.crt"
  "TLS_CERT" "/run/longwave/tls/tls.crt"
  "TLS_KEY" "/run/longwave/tls/tls.key"
  "BASE_URL" $root.Values.addresses.base
  "MCP_URL" $root.Values.addresses.mcp
  "API_URL" $root.Values.addresses.api
  "MEDIA_URL" $root.Values.addresses.media }}
{{- $login := list }}
{{- if $service.grpc }}{{ $_ := set $text "GRPC_LISTEN" (printf "$(POD_IP):%v" $ports.grpc) }}{{ end }}
{{- if $service.routes }}
  {{- $_ := set $text "HTTP_LISTEN" (printf "$(POD_IP):%v" $ports.http) }}
  {{- $_ := set $text "TRUSTED_PROXIES" (join "," $root.Values.trustedProxies) }}
{{- end }}
{{- range $service.calls }}{{ $_ := set $text .variable (printf "%s-%s-grpc:%v" $full .service $ports.grpc) }}{{ end }}
{{- range $service.secretFiles }}{{ $_ := set $text . (printf "/run/longwave/keys/%s" .) }}{{ end }}
{{- range $service.folders }}{{ $_ := set $text .variable (printf "/var/longwave/%s" .name) }}{{ end }}
{{- range $service.files }}{{ $_ := set $text .variable (printf "/longwave/%s" .path) }}{{ end }}
{{- if hasKey $service "database" }}{{ $login = append $login "DATABASE_URL" }}{{ end }}
{{- if $service.redis }}{{ $login = append $login "REDIS_URL" }}{{ end }}
{{- $kafka := $root.Values.kafka }}
{{- if and $service.bus $kafka.brokers }}
  {{- $_ := set $text "KAFKA_BROKERS" (join "," $kafka.brokers) }}
  {{- $_ := set $text "KAFKAJS_NO_PARTITIONER_WARNING" "1" }}
  {{- if $kafka.tls }}{{ $_ := set $text "KAFKA_TLS" "true" }}{{ end }}
  {{- if $kafka.saslMechanism }}
    {{- $_ := set $text "KAFKA_SASL_MECHANISM" $kafka.saslMechanism }}
    {{- $login = concat $login (list "KAFKA_USERNAME" "KAFKA_PASSWORD") }}
  {{- end }}
{{- end }}
{{- if $service.objects }}
  {{- $_ := set $text "S3_ENDPOINT" $root.Values.objectStore.endpoint }}
  {{- $_ := set $text "S3_REGION" $root.Values.objectStore.region }}
  {{- $_ := set $text "S3_BUCKET" $root.Values.objectStore.bucket }}
  {{- $login = concat $login (list "S3_ACCESS_KEY" "S3_SECRET_KEY") }}
{{- end }}
{{- if $service.presigns }}{{ $_ := set $text "S3_PUBLIC_ENDPOINT" ($root.Values.objectStore.publicEndpoint | default $root.Values.objectStore.endpoint) }}{{ end }}
{{- if $root.Values.caCertificates.configMap }}{{ $_ := set $text "NODE_EXTRA_CA_CERTS" "/run/longwave/ca/ca.crt" }}{{ end }}
{{- $all := dict }}
{{- range $name, $value := $text }}{{ $_ := set $all $name (dict "value" $value) }}{{ end }}
{{- range concat $login (.values.secretSettings | default list) }}
  {{- $_ := set $all . (dict "valueFrom" (dict "secretKeyRef" (dict "name" $logins "key" .))) }}
{{- end }}
{{- range $service.secretTexts }}
  {{- $_ := set $all . (dict "valueFrom" (dict "secretKeyRef" (dict "name" $keys "key" .))) }}
{{- end }}
{{- toJson $all }}
{{- end }}

{{/* The list of a container: POD_IP first, because others contain it. Takes root, service and values. */}}
{{- define "longwave.env" -}}
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- $made := include "longwave.environment" . | fromJson }}
{{- range $name := keys $made | sortAlpha }}
- {{ merge (dict "name" $name) (index $made $name) | toYaml | nindent 2 | trim }}
{{- end }}
{{- $settings := mustMergeOverwrite (deepCopy .root.Values.settings) (deepCopy (.values.settings | default dict)) }}
{{- range $name := keys $settings | sortAlpha }}
- name: {{ $name }}
  value: {{ index $settings $name | quote }}
{{- end }}
{{- end }}

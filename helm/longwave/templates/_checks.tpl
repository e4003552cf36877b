{{/* What a schema cannot say about values. Every mistake is named at once. */}}
{{- define "longwave.check" -}}
{{- $mistakes := list }}
{{- $hosts := list "base" "mcp" "api" "media" }}
{{- $seen := dict }}
{{- range $host := $hosts }}
  {{- $name := include "longwave.host" (index $.Values.addresses $host) | trim }}
  {{- if hasKey $seen $name }}
    {{- $mistakes = append $mistakes (printf "addresses.%s and addresses.%s are both at %s. Give each of the four addresses a host name of its own: text of strangers must not share an origin with the sessions of people." (index $seen $name) $host $name) }}
  {{- else }}
    {{- $_ := set $seen $name $host }}
  {{- end }}
{{- end }}
{{- if and .Values.networkPolicies.enabled (empty .Values.networkPolicies.gateway) }}
  {{- $mistakes = append $mistakes "networkPolicies.gateway is empty: nobody could reach the public addresses. Name the pods of the gateway, for example by the namespace that they run in." }}
{{- end }}
{{- if .Values.networkPolicies.enabled }}
  {{- $engines := list "postgres" "redis" "objectStore" }}
  {{- if .Values.kafka.brokers }}{{ $engines = append $engines "kafka" }}{{ end }}
  {{- if .Values.networkPolicies.collector.ports }}{{ $engines = append $engines "collector" }}{{ end }}
  {{- range $engine := $engines }}
    {{- if empty (index $.Values.networkPolicies $engine).to }}
      {{- $mistakes = append $mistakes (printf "networkPolicies.%s.to is empty: its ports would be open at every address of the internet. Name where it is, for example [{ ipBlock: { cidr: 10.20.0.10/32 } }]; 0.0.0.0/0 says that every address is meant." $engine) }}
    {{- end }}
  {{- end }}
  {{- range $broker := .Values.kafka.brokers }}
    {{- $port := splitList ":" $broker | last }}
    {{- if not (has $port (toStrings $.Values.networkPolicies.kafka.ports)) }}
      {{- $mistakes = append $mistakes (printf "kafka.brokers has %s, but networkPolicies.kafka.ports has no %s: services could not reach it. Add the port there." $broker $port) }}
    {{- end }}
  {{- end }}
  {{- $store := urlParse .Values.objectStore.endpoint }}
  {{- $port := regexFind ":[0-9]+$" $store.host | trimPrefix ":" | default (ternary "80" "443" (eq $store.scheme "http")) }}
  {{- if not (has $port (toStrings .Values.networkPolicies.objectStore.ports)) }}
    {{- $mistakes = append $mistakes (printf "objectStore.endpoint has port %s, but networkPolicies.objectStore.ports has no %s: services could not reach it. Add the port there." $port $port) }}
  {{- end }}
  {{- if and .Values.serviceMonitors.enabled (empty .Values.networkPolicies.prometheus) }}
    {{- $mistakes = append $mistakes "serviceMonitors.enabled is true, but networkPolicies.prometheus is empty: Prometheus could not read the services. Name its pods, for example by the namespace that they run in." }}
  {{- end }}
  {{- if empty .Values.networkPolicies.dns }}
    {{- $mistakes = append $mistakes "networkPolicies.dns is empty: port 53 would be open at every address of the internet. Name the pods or addresses of the cluster's DNS." }}
  {{- end }}
{{- end }}
{{- if and (eq .Values.public.kind "Gateway") .Values.public.gateway.create (empty .Values.public.gateway.className) }}
  {{- $mistakes = append $mistakes "public.gateway.className is empty. Name the GatewayClass of the cluster, or set public.gateway.create to false and name a Gateway." }}
{{- end }}
{{- if and (eq .Values.public.kind "Gateway") (not .Values.public.gateway.create) (empty .Values.public.gateway.name) }}
  {{- $mistakes = append $mistakes "public.gateway.name is empty. Name the Gateway that the routes are attached to, or set public.gateway.create to true." }}
{{- end }}
{{- if and (not .Values.mutualTls.issuer.create) (empty .Values.mutualTls.issuer.name) }}
  {{- $mistakes = append $mistakes "mutualTls.issuer.name is empty. Name the issuer of the services' certificates, or set mutualTls.issuer.create to true." }}
{{- end }}
{{- if and .Values.kafka.saslMechanism (empty .Values.kafka.brokers) }}
  {{- $mistakes = append $mistakes "kafka.brokers is empty, but kafka.saslMechanism is set: there is no Kafka to log in at." }}
{{- end }}
{{- if and (eq .Values.kafka.saslMechanism "plain") (not .Values.kafka.tls) }}
  {{- $mistakes = append $mistakes "kafka.saslMechanism plain sends passwords in plain text. Set kafka.tls to true, or use scram-sha-256 or scram-sha-512." }}
{{- end }}
{{- $services := (include "longwave.services" . | fromJson).services }}
{{- $names := list }}
{{- range $services }}{{ $names = append $names .name }}{{ end }}
{{- range $name := keys .Values.services | sortAlpha }}
  {{- if not (has $name $names) }}
    {{- $mistakes = append $mistakes (printf "services.%s: there is no such service. The services are %s." $name (join ", " $names)) }}
  {{- end }}
{{- end }}
{{- range $name := keys .Values.image.digests | sortAlpha }}
  {{- if not (has $name $names) }}
    {{- $mistakes = append $mistakes (printf "image.digests.%s: there is no such service. The services are %s." $name (join ", " $names)) }}
  {{- end }}
{{- end }}
{{- range $service := $services }}
  {{- $values := include "longwave.valuesOf" (dict "root" $ "name" $service.name) | fromJson }}
  {{- $folders := list }}
  {{- range $service.folders }}{{ $folders = append $folders .variable }}{{ end }}
  {{- range $variable := keys ($values.folders | default dict) | sortAlpha }}
    {{- if not (has $variable $folders) }}
      {{- $known := ternary (printf "no such folder. Its folders are %s." (join ", " $folders)) "no folders." (not (empty $folders)) }}
      {{- $mistakes = append $mistakes (printf "services.%s.folders.%s: %s has %s" $service.name $variable $service.name $known) }}
    {{- end }}
  {{- end }}
  {{- range $folder := $service.folders }}
    {{- if not (dig $folder.variable "size" "" ($values.folders | default dict)) }}
      {{- $mistakes = append $mistakes (printf "services.%s.folders.%s.size is missing." $service.name $folder.variable) }}
    {{- end }}
  {{- end }}
  {{- $made := include "longwave.environment" (dict "root" $ "service" $service "values" $values) | fromJson }}
  {{- range $variable := concat (keys $.Values.settings) (keys ($values.settings | default dict)) | uniq | sortAlpha }}
    {{- if hasKey $made $variable }}
      {{- $mistakes = append $mistakes (printf "settings of %s name %s, which the chart sets itself." $service.name $variable) }}
    {{- end }}
  {{- end }}
{{- end }}
{{- if $mistakes }}
  {{- fail (printf "\n\n- %s\n" (join "\n- " $mistakes)) }}
{{- end }}
{{- end }}

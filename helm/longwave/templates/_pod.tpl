{{/* The template of a service's pods. Takes root, service and values. */}}
{{- define "longwave.pod" -}}
{{- $root := .root }}
{{- $service := .service }}
{{- $values := .values }}
{{- $name := $service.name }}
{{- $full := include "longwave.fullname" $root }}
{{- $ports := include "longwave.ports" . | fromYaml }}
metadata:
  labels:
    {{- include "longwave.labels" (dict "root" $root "name" $name) | nindent 4 }}
  {{- with $values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ $full }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ add $values.drainSeconds $values.stopSeconds }}
  securityContext:
    {{- include "longwave.podSecurity" . | nindent 4 }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "longwave.selector" (dict "root" $root "name" $name) | nindent 10 }}
    {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ $name }}
      image: {{ include "longwave.image" (dict "root" $root "name" $name) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [node]
      args:
        - --max-semi-space-size={{ $service.youngGenerationMb }}
        - apps/{{ $name }}/dist/main.js
      env:
        {{- include "longwave.env" . | nindent 8 }}
      ports:
        {{- if $service.routes }}
        - { name: http, containerPort: {{ $ports.http }}, protocol: TCP }
        {{- end }}
        {{- if $service.grpc }}
        - { name: grpc, containerPort: {{ $ports.grpc }}, protocol: TCP }
        {{- end }}
        - { name: health, containerPort: {{ $ports.health }}, protocol: TCP }
      # The health port opens when the service is complete.
      startupProbe:
        httpGet: { path: /healthz, port: health }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: health }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: health }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      lifecycle:
        preStop:
          # Until all have heard that the pod takes no new connections.
          exec: { command: [sleep, {{ $values.drainSeconds | quote }}] }
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- include "longwave.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        - { name: tls, mountPath: /run/longwave/tls, readOnly: true }
        {{- if $service.secretFiles }}
        - { name: keys, mountPath: /run/longwave/keys, readOnly: true }
        {{- end }}
        {{- if $root.Values.caCertificates.configMap }}
        - { name: ca, mountPath: /run/longwave/ca, readOnly: true }
        {{- end }}
        {{- range $service.folders }}
        - { name: {{ .name }}, mountPath: /var/longwave/{{ .name }} }
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 256Mi }
    # 288 is 0440: readable by the group of the process.
    - name: tls
      secret: { secretName: {{ $full }}-{{ $name }}-tls, defaultMode: 288 }
    {{- if $service.secretFiles }}
    - name: keys
      secret:
        secretName: {{ include "longwave.keysSecret" $root | trim }}
        defaultMode: 288
        items:
          {{- range $service.secretFiles }}
          - { key: {{ . }}, path: {{ . }} }
          {{- end }}
    {{- end }}
    {{- if $root.Values.caCertificates.configMap }}
    - name: ca
      configMap:
        name: {{ $root.Values.caCertificates.configMap }}
        items:
          - { key: {{ $root.Values.caCertificates.key }}, path: ca.crt }
    {{- end }}
    {{- range $service.folders }}
    {{- $folder := index $values.folders .variable }}
    {{- if not .lasts }}
    - name: {{ .name }}
      {{- if $folder.storageClass }}
      ephemeral:
        volumeClaimTemplate:
          spec:
            {{- include "longwave.claim" $folder | nindent 12 }}
      {{- else }}
      emptyDir: { sizeLimit: {{ $folder.size }} }
      {{- end }}
    {{- end }}
    {{- end }}
{{- end }}

{{/* A disk that one pod has for itself. Takes the values of a folder. */}}
{{- define "longwave.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .storageClass }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .size }}
{{- end }}

{{/* What a migration mounts and may do is less than its service. Takes root, service and values. */}}
{{- define "longwave.migrationPod" -}}
{{- $root := .root }}
{{- $name := .service.name }}
metadata:
  labels:
    {{- include "longwave.labels" (dict "root" $root "name" (printf "%s-migration" $name)) | nindent 4 }}
spec:
  restartPolicy: Never
  automountServiceAccountToken: false
  enableServiceLinks: false
  securityContext:
    {{- include "longwave.podSecurity" . | nindent 4 }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  containers:
    - name: migrate
      image: {{ include "longwave.image" (dict "root" $root "name" $name) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [node]
      args: [tools/migrate.js, deploy, --dir, apps/{{ $name }}/prisma, --schema, {{ .service.database.schema }}, --service-role, {{ .service.database.serviceRole }}]
      env:
        - name: DATABASE_URL
          valueFrom:
            secretKeyRef:
              name: {{ .values.migrationSecretName | default (printf "%s-%s-migration" (include "longwave.fullname" $root) $name) }}
              key: DATABASE_URL
        {{- if $root.Values.caCertificates.configMap }}
        - { name: NODE_EXTRA_CA_CERTS, value: /run/longwave/ca/ca.crt }
        {{- end }}
      resources:
        requests: { cpu: 100m, memory: 128Mi }
        limits: { memory: 512Mi }
      securityContext:
        {{- include "longwave.containerSecurity" . | nindent 8 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- if $root.Values.caCertificates.configMap }}
        - { name: ca, mountPath: /run/longwave/ca, readOnly: true }
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: { sizeLimit: 64Mi }
    {{- if $root.Values.caCertificates.configMap }}
    - name: ca
      configMap:
        name: {{ $root.Values.caCertificates.configMap }}
        items:
          - { key: {{ $root.Values.caCertificates.key }}, path: ca.crt }
    {{- end }}
{{- end }}

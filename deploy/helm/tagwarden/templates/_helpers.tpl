{{- define "tagwarden.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "tagwarden.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "tagwarden.labels" -}}
{{ include "tagwarden.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "tagwarden.secret" -}}
{{- if .Values.existingSecret -}}
{{- .Values.existingSecret -}}
{{- else -}}
{{- include "tagwarden.fullname" . -}}
{{- end -}}
{{- end -}}

{{- define "tagwarden.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "tagwarden.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "tagwarden.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* What a start would refuse, said before there is one. */}}
{{- define "tagwarden.requireSecrets" -}}
{{- if not .Values.existingSecret -}}
{{- $open := eq (toString .Values.settings.ALLOW_UNAUTHENTICATED) "true" -}}
{{- $accounts := or .Values.settings.ADMIN_EMAIL .Values.settings.OIDC_ISSUER .Values.settings.PROXY_EMAIL_HEADER -}}
{{- if not (or .Values.secrets.ADMIN_TOKEN $accounts $open) -}}
{{- fail "Set existingSecret to a Secret with the key ADMIN_TOKEN, or secrets.ADMIN_TOKEN, or settings.ADMIN_EMAIL to sign in with accounts: the service is reached by others, and would need no key." -}}
{{- end -}}
{{- if and (eq .Values.engine "sqlite") .Values.secrets.DATABASE_URL -}}
{{- fail "secrets.DATABASE_URL is set: set engine to postgres too." -}}
{{- end -}}
{{- if and (eq .Values.engine "postgres") (not .Values.secrets.DATABASE_URL) -}}
{{- fail "engine is postgres: set existingSecret to a Secret with the key DATABASE_URL too, or secrets.DATABASE_URL." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The pod, the same with both engines but for where the data are. */}}
{{- define "tagwarden.pod" -}}
metadata:
  labels:
    {{- include "tagwarden.selector" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- if not .Values.existingSecret }}
    # A changed secret starts the pods again.
    checksum/secrets: {{ toJson .Values.secrets | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "tagwarden.serviceAccount" . }}
  automountServiceAccountToken: false
  enableServiceLinks: false
  # More than it needs to finish what is under way.
  terminationGracePeriodSeconds: 30
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  containers:
    - name: tagwarden
      image: {{ include "tagwarden.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop:
            - ALL
      ports:
        - name: http
          containerPort: 8080
      env:
        - name: PORT
          value: "8080"
        {{- with .Values.publicUrl }}
        - name: PUBLIC_URL
          value: {{ . | quote }}
        {{- end }}
        {{- with .Values.trustProxy }}
        - name: TRUST_PROXY
          value: {{ join "," . | quote }}
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ $value | toString | quote }}
        {{- end }}
      envFrom:
        - secretRef:
            name: {{ include "tagwarden.secret" . }}
      {{- if eq .Values.engine "postgres" }}
      # For some seconds more the cluster sends requests to a pod that ends, and they would be refused.
      lifecycle:
        preStop:
          exec:
            command: ["node", "-e", "setTimeout(() => {}, 5000)"]
      {{- end }}
      startupProbe:
        httpGet:
          path: /health
          port: http
        periodSeconds: 5
        failureThreshold: {{ .Values.startupFailures }}
      livenessProbe:
        httpGet:
          path: /health
          port: http
        periodSeconds: 30
        timeoutSeconds: 5
      readinessProbe:
        httpGet:
          path: /ready
          port: http
        periodSeconds: 5
        timeoutSeconds: 3
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        {{- if eq .Values.engine "sqlite" }}
        - name: data
          mountPath: /data
        {{- end }}
        - name: tmp
          mountPath: /tmp
        - name: cache
          mountPath: /app/node_modules/.cache/tagwarden
  volumes:
    - name: tmp
      emptyDir: {}
    - name: cache
      emptyDir:
        sizeLimit: 64Mi
    {{- if and (eq .Values.engine "sqlite") .Values.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ .Values.persistence.existingClaim }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if eq .Values.engine "postgres" }}
  topologySpreadConstraints:
    {{- if .Values.topologySpreadConstraints }}
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "tagwarden.selector" . | nindent 10 }}
    {{- end }}
  {{- end }}
{{- end -}}

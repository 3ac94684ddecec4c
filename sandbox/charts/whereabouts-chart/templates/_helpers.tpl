{{- define "whereabouts.name" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $long := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $long | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "whereabouts.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end -}}

{{- define "whereabouts.labels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

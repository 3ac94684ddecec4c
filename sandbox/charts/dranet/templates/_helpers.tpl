{{/* The one name of everything in the chart; a release of the chart's name is not named twice. */}}
{{- define "dranet.name" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $long := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $long | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "dranet.labels" -}}
app.kubernetes.io/name: dranet
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

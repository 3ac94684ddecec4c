{{/* Labels of everything in the chart. */}}
{{- define "network-operator.labels" -}}
app.kubernetes.io/name: {{ .Values.operator.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Labels of the SR-IOV operator, a subchart of the published chart. */}}
{{- define "network-operator.sriovLabels" -}}
app.kubernetes.io/name: sriov-network-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* Workloads bear the chart's name, accounts and roles the release's too: two releases in one namespace collide. */}}
{{- define "dra.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "dra.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $long := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- .Values.fullnameOverride | default $long | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "dra.account" -}}
{{- .Values.serviceAccount.name | default (printf "%s-service-account" (include "dra.fullname" .)) -}}
{{- end -}}

{{- define "dra.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end -}}

{{- define "dra.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end -}}

{{/* Offline the published chart asks what the renderer claims to serve; the clusters that this one meets serve v1. */}}
{{- define "dra.api" -}}
{{- .Values.resourceApiVersion | default "resource.k8s.io/v1" -}}
{{- end -}}

{{/* Labels of pods, beside the one of their component, and of everything in the chart. */}}
{{- define "dra.podLabels" -}}
app.kubernetes.io/name: {{ include "dra.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "dra.labels" -}}
{{ include "dra.podLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The label by which a workload knows its pods: its key follows the chart's name. */}}
{{- define "dra.component" -}}
{{- $key := printf "%s-component" (include "dra.name" .context) -}}
{{- .context.Values.selectorLabelsOverride | default (dict $key .component) | toYaml -}}
{{- end -}}

{{/* The environment of every plugin container: the driver's root and the gates as one list. */}}
{{- define "dra.env" -}}
- {name: NVIDIA_DRIVER_ROOT, value: {{ .Values.nvidiaDriverRoot | quote }}}
{{- with .Values.nvidiaCDIHookPath }}
- {name: NVIDIA_CDI_HOOK_PATH, value: {{ . | quote }}}
{{- end }}
{{- with .Values.featureGates }}
- {name: FEATURE_GATES, value: "{{ range $gate, $on := . }}{{ $gate }}={{ $on }},{{ end }}"}
{{- end }}
- {name: LOG_VERBOSITY, value: {{ .Values.logVerbosity | quote }}}
{{- end -}}

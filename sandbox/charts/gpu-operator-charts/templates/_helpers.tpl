{{- define "amd.fullname" -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "amd.selector" -}}
app.kubernetes.io/component: amd-gpu
app.kubernetes.io/part-of: amd-gpu
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "amd.labels" -}}
{{ include "amd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/*
  The known keys of one section of the values, as a JSON object; arguments: the section, then its known keys.
  Everything unknown is left out without a word, as the published templates do. Empty values are left out, false is not.
*/}}
{{- define "amd.known" -}}
{{- $section := first . | default dict -}}
{{- $kept := dict -}}
{{- range $key := rest . -}}
{{- $value := get $section $key -}}
{{- if and (hasKey $section $key) (or (kindIs "bool" $value) $value) -}}
{{- $_ := set $kept $key $value -}}
{{- end -}}
{{- end -}}
{{- toJson $kept -}}
{{- end -}}

{{/* The resource API that the cluster serves, the newest first. */}}
{{- define "amd.dra" -}}
{{- $found := "" -}}
{{- range list "resource.k8s.io/v1beta1" "resource.k8s.io/v1beta2" "resource.k8s.io/v1" -}}
{{- if $.Capabilities.APIVersions.Has . }}{{ $found = . }}{{ end -}}
{{- end -}}
{{- $found -}}
{{- end -}}

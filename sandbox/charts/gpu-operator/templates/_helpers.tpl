{{/* Labels of everything in the chart. */}}
{{- define "gpu-operator.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/component: gpu-operator
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* The operator's image. */}}
{{- define "gpu-operator.image" -}}
{{- with .Values.operator -}}
{{ .repository }}/{{ .image }}:{{ .version | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/*
  The known keys of one section of the values, as a JSON object; arguments: the section, then its known keys.
  Everything unknown is left out without a word, as the published templates do. Empty values are left out, false is not.
*/}}
{{- define "gpu-operator.known" -}}
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

{{/* One operand's section: the keys that all operands share, and further ones after it. */}}
{{- define "gpu-operator.operand" -}}
{{- $shared := list "enabled" "repository" "image" "version" "imagePullPolicy" "imagePullSecrets" "env" "args" -}}
{{- $shared = concat $shared (list "resources" "hostNetwork") -}}
{{- include "gpu-operator.known" (concat (list (first .)) $shared (rest .)) -}}
{{- end -}}

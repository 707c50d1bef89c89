{{- /* The version of the API that this cluster has for policies that change objects. */ -}}
{{- define "reprise.admission" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
admissionregistration.k8s.io/v1
{{- else -}}
admissionregistration.k8s.io/v1beta1
{{- end -}}
{{- end -}}

{{- /* A value as a text of CEL. Helm reads every number of a file as a fraction, and would print 1000650000 as 1.00065e+09. */ -}}
{{- define "reprise.cel" -}}
{{- $value := . -}}
{{- if kindIs "invalid" . -}}
{{- $value = "" -}}
{{- else if kindIs "float64" . -}}
{{- $value = ternary (int64 .) . (eq (floor .) .) -}}
{{- end -}}
{{- $value | toString | replace "\\" "\\\\" | replace "'" "\\'" | replace "\n" "\\n" | squote -}}
{{- end -}}

{{- /* The version of the API that this cluster has for policies that change objects. */ -}}
{{- define "reprise.admission" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
admissionregistration.k8s.io/v1
{{- else -}}
admissionregistration.k8s.io/v1beta1
{{- end -}}
{{- end -}}

{{- /* A text as CEL writes it. */ -}}
{{- define "reprise.cel" -}}
{{- . | toString | replace "\\" "\\\\" | replace "'" "\\'" | replace "\n" "\\n" | squote -}}
{{- end -}}

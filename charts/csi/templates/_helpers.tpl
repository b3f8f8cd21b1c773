{{- /* csi.container renders the image, its pull policy and the resources of a container: list $ and the values of the container. */}}
{{- define "csi.container" -}}
{{- $root := index . 0 }}{{ $c := index . 1 }}
{{- $registry := $root.Values.registry | default ($root.Values.global).imageRegistry }}
{{- $name := empty $registry | ternary $c.repository (printf "%s/%s" $registry $c.repository) -}}
image: {{ empty $c.digest | ternary (printf "%s:%s" $name $c.tag) (printf "%s@%s" $name $c.digest) }}
{{- with $root.Values.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- with $c.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* csi.pod renders what the specs of all pods have. */}}
{{- define "csi.pod" -}}
{{- with .Values.imagePullSecrets | default (.Values.global).imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
- name: {{ .name | quote }}
  {{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}

{{- /* csi.sidecars lists the names of the Deployments that are switched on. */}}
{{- define "csi.sidecars" -}}
{{- $values := .Values }}{{ $on := list }}
{{- range list "provisioner" "resizer" "attacher" "snapshotter" }}
{{- if (index $values .).enabled }}{{ $on = append $on . }}{{ end }}
{{- end }}
{{- join " " $on }}
{{- end }}

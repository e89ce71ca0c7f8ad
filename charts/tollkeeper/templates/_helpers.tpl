{{- define "tollkeeper.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels of every object. */}}
{{- define "tollkeeper.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/part-of: tollkeeper
{{- end -}}

{{/* The labels of the objects of a service: (list $ <service>). */}}
{{- define "tollkeeper.labelsOf" -}}
{{ include "tollkeeper.labels" (first .) }}
app.kubernetes.io/name: {{ last . }}
{{- end -}}

{{/* What selects the pods of a service: (list $ <service>). */}}
{{- define "tollkeeper.selectorOf" -}}
app.kubernetes.io/instance: {{ (first .).Release.Name }}
app.kubernetes.io/name: {{ last . }}
app.kubernetes.io/part-of: tollkeeper
{{- end -}}

{{/* How the services fit together, by name. */}}
{{- define "tollkeeper.services" -}}
{{ .Files.Get "files/services.yaml" }}
{{- end -}}

{{/* The row of a service in the values, over what every service has: (list $ <service>). */}}
{{- define "tollkeeper.row" -}}
{{- $values := (first .).Values -}}
{{- mergeOverwrite (deepCopy $values.defaults) (deepCopy (index $values.services (last .))) | toYaml -}}
{{- end -}}

{{/* The image of a service: (list $ <service>). */}}
{{- define "tollkeeper.imageOf" -}}
{{- $shared := (first .).Values.image -}}
{{- $own := (index (first .).Values.services (last .)).image -}}
{{- with $shared.registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $own.repository -}}
{{- if $own.digest }}@{{ $own.digest }}{{ else }}:{{ $shared.tag | default $own.tag }}{{ end -}}
{{- end -}}

{{- define "tollkeeper.publicUrl" -}}
{{- .Values.publicUrl | default "http://localhost:8080" | trimSuffix "/" -}}
{{- end -}}

{{- define "tollkeeper.publicHost" -}}
{{- (urlParse (include "tollkeeper.publicUrl" .)).host -}}
{{- end -}}

{{- define "tollkeeper.secretName" -}}
{{- .Values.secret.existing | default (printf "%s-secrets" (include "tollkeeper.fullname" .)) -}}
{{- end -}}

{{/* The key in the Secret for a secret: (list $ <secret>). */}}
{{- define "tollkeeper.keyOf" -}}
{{- $secret := (first .).Values.secret -}}
{{- if $secret.existing }}{{ index $secret.keys (last .) }}{{ else }}{{ last . }}{{ end -}}
{{- end -}}

{{/* The settings of a service, in its ConfigMap: (list $ <service>). */}}
{{- define "tollkeeper.settingsOf" -}}
{{- $root := first . -}}
{{- $name := last . -}}
{{- $service := index (include "tollkeeper.services" $root | fromYaml) $name -}}
{{- $full := include "tollkeeper.fullname" $root -}}
{{- $settings := dict -}}
{{- range $port, $callees := $service.calls -}}
{{- range $callees -}}
{{- $address := eq $port "grpc" | ternary (printf "%s-grpc-%s:9090" $full .) (printf "http://%s-%s:8080" $full .) -}}
{{- $_ := set $settings (printf "%s_%s" . $port | upper) $address -}}
{{- end -}}
{{- end -}}
{{- mergeOverwrite $settings (include "tollkeeper.row" . | fromYaml).env | toYaml -}}
{{- end -}}

{{/* The settings that services share. */}}
{{- define "tollkeeper.sharedSettings" -}}
{{- merge (dict "PUBLIC_URL" (include "tollkeeper.publicUrl" .)) .Values.settings | toYaml -}}
{{- end -}}

{{/* How the services reach Kafka. */}}
{{- define "tollkeeper.kafkaSettings" -}}
{{- if .Values.trial.enabled -}}
KAFKA_BROKERS: {{ include "tollkeeper.fullname" . }}-kafka:9092
KAFKA_REPLICATION_FACTOR: "1"
{{- else -}}
KAFKA_BROKERS: {{ join "," .Values.kafka.brokers }}
{{- if .Values.kafka.tls }}
KAFKA_TLS: "true"
{{- end }}
{{- with .Values.kafka.saslMechanism }}
KAFKA_SASL_MECHANISM: {{ . }}
{{- end }}
KAFKA_REPLICATION_FACTOR: {{ .Values.kafka.replicationFactor | quote }}
{{- end -}}
{{- end -}}

{{/* Public addresses, for network policies: those that libs/net takes for public. */}}
{{- define "tollkeeper.publicAddresses" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      - 0.0.0.0/8
      - 10.0.0.0/8
      - 100.64.0.0/10
      - 127.0.0.0/8
      - 169.254.0.0/16
      - 172.16.0.0/12
      - 192.0.0.0/24
      - 192.168.0.0/16
      - 198.18.0.0/15
      - 224.0.0.0/3
- ipBlock:
    cidr: 2000::/3
    except: ['2001::/23', '2002::/16']
{{- end -}}

{{- define "tollkeeper.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "tollkeeper.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

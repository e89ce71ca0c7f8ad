#!/bin/bash
# As the image apache/kafka does: each variable KAFKA_<NAME> is the setting <name> of the broker, and an empty log is
# formatted.
set -euo pipefail
properties=$(mktemp)
while IFS='=' read -r -d '' name value; do
  case $name in
    KAFKA_HEAP_OPTS | KAFKA_OPTS | KAFKA_JVM_*) ;;
    KAFKA_*)
      setting=${name#KAFKA_}
      setting=${setting//_/.}
      printf '%s=%s\n' "${setting,,}" "$value"
      ;;
  esac
done </proc/self/environ >"$properties"
export CLASSPATH='/opt/kafka/libs/*'
java ${KAFKA_HEAP_OPTS:-} kafka.tools.StorageTool format --ignore-formatted -t 5L6g3nShT-eMCtK--X86sw -c "$properties"
exec java ${KAFKA_HEAP_OPTS:-} -XX:+UseSerialGC kafka.Kafka "$properties"

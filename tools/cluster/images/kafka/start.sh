#!/bin/bash
# Like the image apache/kafka, maps each variable KAFKA_<NAME> to the broker's setting <name>, and formats an empty log.
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

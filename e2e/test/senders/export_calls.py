"""Ends spans of two calls, which the exporter sends in one batch."""

import os

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

if os.environ["OTEL_EXPORTER_OTLP_PROTOCOL"] == "grpc":
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
else:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("senders")
for _ in range(2):
    with tracer.start_as_current_span("chat gpt-4o") as span:
        span.set_attributes(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.response.model": "gpt-4o",
                "gen_ai.usage.input_tokens": 1200,
                "gen_ai.usage.cache_read.input_tokens": 1024,
                "gen_ai.usage.output_tokens": 345,
                "gen_ai.usage.reasoning.output_tokens": 128,
                "gen_ai.input.messages": os.environ["PROMPT"],
                "gen_ai.output.messages": os.environ["ANSWER"],
            }
        )
provider.force_flush()
provider.shutdown()

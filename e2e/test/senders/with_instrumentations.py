"""Calls that OpenInference or OpenLLMetry reports, or both: the arguments name them."""

import sys

from openinference.instrumentation.openai import OpenAIInstrumentor as OpenInference
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai import OpenAIInstrumentor as OpenLLMetry
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from calls import make_calls

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
instrumentations = {"openinference": OpenInference, "openllmetry": OpenLLMetry}
for name in sys.argv[1:]:
    instrumentations[name]().instrument()

make_calls()

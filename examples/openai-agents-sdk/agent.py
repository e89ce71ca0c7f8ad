from agents import Agent, Runner
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

# Reads OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS, and sends what is left when the program ends.
provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
trace.set_tracer_provider(provider)
# By default this takes the place of the tracing of the SDK, which would send the prompts to OpenAI.
OpenAIAgentsInstrumentor().instrument()

# Tollkeeper shows this name as the agent `Weather-agent`, because ids have no spaces.
agent = Agent(name="Weather agent", instructions="Answer in one sentence.", model="gpt-4o")
print(Runner.run_sync(agent, "Why is the sky blue?").final_output)

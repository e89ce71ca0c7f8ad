"""Calls that Langfuse's wrapper of the OpenAI client reports."""

from langfuse import get_client
from langfuse.openai import OpenAI

from calls import make_calls

make_calls(OpenAI)
get_client().flush()

"""The calls that every sender makes of the model: three that it answers with usage, one without, and one it refuses."""

import os

import openai


def make_calls(create=openai.OpenAI):
    answering = client(create, "answers")
    ask(answering)
    for _ in ask(answering, stream=True, stream_options={"include_usage": True}):
        pass
    for _ in ask(answering, stream=True):
        pass
    try:
        ask(client(create, "refuses"))
        raise SystemExit("The model should have refused this call.")
    except openai.RateLimitError:
        pass
    ask(client(create, "refuses-once", max_retries=1))


def client(create, behavior, max_retries=0):
    return create(base_url=f"{os.environ['MODEL_URL']}/{behavior}/v1", api_key="none", max_retries=max_retries)


def ask(client, **options):
    return client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": os.environ["PROMPT"]}], **options
    )

"""Makes the budgets of Tollkeeper hold at a LiteLLM proxy. README.md says how to set it up.

Before a call it reserves what the call may cost at most. After the call it settles what the call has cost, or
releases the reservation. With leases, it does so in memory. A call that Tollkeeper denies never reaches a model.
"""

import asyncio
import json
import logging
import math
import os
import random
import re
import sys
import time
import unicodedata
import uuid
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import islice
from typing import Optional

import httpx
import litellm
from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

# LiteLLM loads this file by its path, which may be in a folder that Python does not look in.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
from tollkeeper_leases import MAX_MICROS, Lease, Leases, Unavailable, ask  # noqa: E402

log = logging.getLogger("tollkeeper_litellm")

# Where a request carries its Call. No request can bring one along: JSON has no such objects.
CALL = "tollkeeper_call"
# They cost nothing at the providers, and LiteLLM has no price of them.
FREE_CALL_TYPES = ("moderation", "amoderation")
OUTPUT_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")
# Behind the answer to the client, a slow settlement costs nobody anything.
BACKGROUND_TIMEOUT_SECONDS = 5
MAX_WAITING_EVENTS = 10_000
EVENTS_PER_REQUEST = 500
MAX_EVENT_AGE_SECONDS = 3600
MAX_PAUSE_SECONDS = 30
PLAN_KEY = r"[a-z0-9][a-z0-9_-]{0,63}"
LABEL = r"[a-z][a-z0-9_.-]{0,31}"
MAX_LABELS = 10
# What LiteLLM itself knows of a key. Its end_user_id is not among them: mostly, LiteLLM takes that from the request.
KEY_ATTRIBUTES = ("team_id", "team_alias", "user_id", "org_id", "key_alias")
# How long, and for how many calls, a hold that is not needed is looked for and released.
RELEASE_SECONDS = 60
MAX_RELEASES = 1000
# Behind this, Tollkeeper decides no more about a request that it got.
DECISION_SECONDS = 2
# The clients of OpenAI and Anthropic would repeat a 429 by themselves, only to be denied again.
NO_RETRY = {"x-should-retry": "false"}


def setting(name, default=None):
    value = os.environ.get(f"TOLLKEEPER_{name}") or default
    if value is None:
        raise RuntimeError(f"TOLLKEEPER_{name} must be set")
    return value


def number(name, default, low, high):
    try:
        value = float(setting(name, default))
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        raise RuntimeError(f"TOLLKEEPER_{name} must be a number from {low} to {high}")
    return value


def label_fields():
    """The field of each label."""
    fields = {}
    for item in filter(None, (part.strip() for part in setting("LABELS", "").split(","))):
        label, separator, name = (part.strip() for part in item.partition("="))
        if not re.fullmatch(LABEL, label):
            rule = "a name has 1 to 32 characters of a-z 0-9 _ . -, and starts with a-z"
            raise RuntimeError(f"TOLLKEEPER_LABELS cannot have the label {label!r}: {rule}")
        if label in fields:
            raise RuntimeError(f"TOLLKEEPER_LABELS has the label {label!r} twice")
        if separator and not name:
            raise RuntimeError(f"TOLLKEEPER_LABELS names no field for the label {label!r}")
        fields[label] = name or label
    if len(fields) > MAX_LABELS:
        raise RuntimeError(f"TOLLKEEPER_LABELS must be at most {MAX_LABELS} labels")
    return fields


@dataclass
class Call:
    """A call of an agent, from the reservation to the settlement."""

    # Not LiteLLM's id of the call: callers may choose that one, and repeat it.
    id: str
    agent_id: str
    run_id: str
    plan_key: Optional[str]
    amount_micros: int
    # Whether LiteLLM has prices of it.
    is_priced: bool
    # What it is for.
    labels: dict
    # Its model and its provider, as far as they are known before.
    names: dict
    # None of both when it was let through while Tollkeeper was unavailable.
    lease: Optional[Lease] = None
    reservation_id: Optional[str] = None
    # Whether a reservation was asked for.
    is_asked: bool = False
    # Whether what it cost is said, or that it cost nothing.
    is_over: bool = False

    def __deepcopy__(self, _):
        # LiteLLM copies requests, but a call is held and settled once.
        return self

    def owner(self):
        """Whose spend it is."""
        optional = {"plan_key": self.plan_key, "labels": self.labels or None}
        owner = {"agent_id": self.agent_id, "run_id": self.run_id, **self.names}
        return {**owner, **{name: value for name, value in optional.items() if value is not None}}


class Tollkeeper(CustomLogger):
    def __init__(self):
        super().__init__()
        self.on_unavailable = setting("ON_UNAVAILABLE", "deny")
        if self.on_unavailable not in ("deny", "allow"):
            raise RuntimeError("TOLLKEEPER_ON_UNAVAILABLE must be deny or allow")
        self.timeout_seconds = number("TIMEOUT_SECONDS", "1.5", 0.1, 60)
        self.ttl_seconds = int(number("TTL_SECONDS", "600", 10, 3600))
        self.default_micros = int(number("DEFAULT_ESTIMATE_MICROS", "100000", 0, MAX_MICROS))
        self.default_output_tokens = int(number("DEFAULT_OUTPUT_TOKENS", "0", 0, 10**9))
        self.default_agent = setting("DEFAULT_AGENT", "litellm")
        self.agent_field = setting("AGENT_FIELD", "")
        self.run_field = setting("RUN_FIELD", "run_id")
        self.plan_field = setting("PLAN_FIELD", "plan_key")
        self.label_fields = label_fields()
        lease_seconds = int(number("LEASE_TTL_SECONDS", "0", 0, 600))
        if 0 < lease_seconds < 10:
            raise RuntimeError("TOLLKEEPER_LEASE_TTL_SECONDS must be a number from 10 to 600, or 0 for no leases")
        self.http = httpx.AsyncClient(
            base_url=f"{setting('URL').rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {setting('KEY').strip()}"},
            timeout=BACKGROUND_TIMEOUT_SECONDS,
        )
        # Spend that Tollkeeper has yet to learn of: when it was added, and the event.
        self.events = deque()
        self.reporter = None
        # The event loop holds tasks weakly.
        self.tasks = set()
        self.releases = 0
        self.leases = lease_seconds and Leases(
            self.http,
            spawn=self.in_background,
            report=self.report,
            ttl_seconds=lease_seconds,
            hold_seconds=self.ttl_seconds,
            timeout_seconds=self.timeout_seconds,
        )

    async def async_pre_call_hook(self, user_api_key_dict, cache, data, call_type):
        # Files, batches and the like name no model, and cost nothing by themselves.
        if not data.get("model") or call_type in FREE_CALL_TYPES:
            return data
        # Counting tokens takes the processor, which other calls need meanwhile.
        call = await asyncio.to_thread(self.new_call, user_api_key_dict, data, call_type)
        try:
            await self.reserve(call)
        except Unavailable as error:
            log.warning("no decision about a call of %s: %s", call.agent_id, error)
            call.is_over = self.on_unavailable == "deny"
            self.abandon(call)
            if call.is_over:
                message = "The budgets cannot be checked now, so the call was not made. Try again soon."
                raise refusal(503, message, "service_unavailable", {"Retry-After": "1"}) from None
        except asyncio.CancelledError:
            # The client went away before there was a decision.
            call.is_over = True
            self.abandon(call)
            raise
        name = "litellm_metadata" if isinstance(data.get("litellm_metadata"), dict) else "metadata"
        if not isinstance(data.get(name), dict):
            data[name] = {}
        data[name][CALL] = call
        return data

    async def async_log_success_event(self, kwargs, response_obj, start_time, end_time):
        """Also of a stream that its client broke off: LiteLLM prices what was streamed until then."""
        call = call_of(kwargs.get("litellm_params"))
        if call is not None:
            cost = kwargs.get("response_cost")
            # LiteLLM says nothing, or 0, of what it has no price of, such as an image or the model of a fallback.
            is_known = cost is not None and (cost > 0 or (call.is_priced and was_priced(kwargs)))
            is_known = is_known or bool(kwargs.get("cache_hit"))
            await self.settle(call, spend_of(call, kwargs, to_micros(cost or 0) if is_known else call.amount_micros))

    async def async_post_call_failure_hook(
        self, request_data, original_exception, user_api_key_dict, traceback_str=None
    ):
        """Once a request, after all retries and fallbacks."""
        call = call_of(request_data)
        if call is not None:
            # A stream that broke off has cost something. LiteLLM writes this field; a request cannot bring it along.
            cost = (request_data.get("standard_logging_object") or {}).get("response_cost") or 0
            if cost > 0:
                self.in_background(self.settle(call, spend_of(call, request_data, to_micros(cost))))
            else:
                self.release(call)

    async def async_post_call_streaming_iterator_hook(self, user_api_key_dict, response, request_data):
        is_silent = True
        try:
            async for chunk in response:
                is_silent = False
                yield chunk
        except (asyncio.CancelledError, GeneratorExit):
            # The client went away. If nothing had come yet, LiteLLM calls no other hook.
            call = call_of(request_data)
            if is_silent and call is not None:
                self.release(call)
            raise

    def new_call(self, user, data, call_type):
        # What the owner of the proxy wrote to the key goes before what the request says.
        said = (data.get("litellm_metadata"), data.get("metadata"))

        def text(name, default):
            values = values_of(name, (user.metadata, *said)) if name else ()
            return next((value for value in values if isinstance(value, str)), default)

        owned = {name: getattr(user, name) for name in KEY_ATTRIBUTES}
        sources = (owned, user.metadata, {"end_user_id": user.end_user_id}, *said)
        labels = {label: to_label(next(values_of(name, sources), "")) for label, name in self.label_fields.items()}
        estimate = self.estimate(data, call_type)
        return Call(
            id=str(uuid.uuid4()),
            agent_id=to_identifier(text(self.agent_field, user.key_alias or self.default_agent)),
            run_id=to_identifier(text(self.run_field, data.get("litellm_call_id") or "none")),
            plan_key=text(self.plan_field, None),
            amount_micros=self.default_micros if estimate is None else estimate,
            is_priced=estimate is not None,
            labels={label: value for label, value in labels.items() if value},
            names=names_of(data["model"]),
        )

    def estimate(self, data, call_type):
        """What the call costs at most by the prices of LiteLLM, in micros. None if these do not tell."""
        try:
            deployments = deployments_of(data["model"])
            found = [self.estimate_of(data, call_type, params, prices_of(params, key)) for params, key in deployments]
            return None if None in found else max(found)
        except Exception as error:
            log.warning("no estimate of a call of the model %s: %s", data["model"], type(error).__name__)
            return None

    def estimate_of(self, data, call_type, params, prices):
        if prices.get("input_cost_per_token") is None:
            return None
        prompt_tokens = count_prompt_tokens(data, params["model"])
        # The prompt may be written to the provider's cache.
        names = ("input_cost_per_token", "cache_creation_input_token_cost")
        usd = prompt_tokens * max(rate(prices, name, prompt_tokens) for name in names)
        if "embedding" not in call_type:
            asked = [int(data.get(name) or params.get(name) or 0) for name in OUTPUT_LIMITS]
            output_tokens = max(asked) or self.default_output_tokens or prices.get("max_output_tokens")
            if not output_tokens or min(asked) < 0:
                return None
            answers = max(int(data.get("n") or 1), 1)
            usd += answers * output_tokens * rate(prices, "output_cost_per_token", prompt_tokens)
        return to_micros(usd)

    async def reserve(self, call):
        """Has the call held, in a lease or by a reservation. Raises the refusal for the client, or Unavailable."""
        if self.leases and self.leases.take(call):
            return
        try:
            denial = await asyncio.wait_for(self.decide(call), self.timeout_seconds)
            if denial is not None:
                headers = {**NO_RETRY, "Retry-After": str(seconds_until(denial["resets_at"]))}
                # Tollkeeper 0.1.0 names no code.
                raise refusal(429, denial["message"], denial.get("code", "budget_exceeded"), headers)
        except (httpx.HTTPError, asyncio.TimeoutError, ValueError, KeyError, TypeError) as error:
            raise Unavailable(type(error).__name__) from None

    async def decide(self, call):
        """A denial; None once the call is held. Raises any other refusal for the client, or Unavailable."""
        if self.leases:
            denial = await self.leases.ask(call)
            if denial is not None or call.lease is not None:
                return denial
        call.is_asked = True
        answer = await ask(self.http, "/reservations", self.request_of(call))
        status, content = answer.status_code, answer.json()
        if status == 200:
            return content["denial"]
        if status == 201:
            if content["reservation"]["state"] != "held":
                raise Unavailable("the reservation is over")
            call.reservation_id = content["reservation"]["id"]
            return None
        message, code = content["error"], content.get("code")
        if status == 429:
            raise refusal(429, message, "rate_limit_exceeded", {"Retry-After": answer.headers.get("Retry-After", "1")})
        if status == 400 or code == "label_pinned":
            # Such as a plan that is unknown.
            problems = [f" {item['path']}: {item['message']}." for item in content.get("details", [])]
            raise refusal(400, message + "".join(problems), "invalid_request_error", {})
        if status in (401, 403):
            log.error("Tollkeeper refuses TOLLKEEPER_KEY: status %s", status)
            raise refusal(503, "This proxy may not ask for budgets.", "service_unavailable", NO_RETRY)
        raise Unavailable(f"status {status}")

    def request_of(self, call):
        body = {"request_id": call.id, "amount_micros": call.amount_micros, "ttl_seconds": self.ttl_seconds}
        return {**body, **call.owner()}

    async def settle(self, call, spend):
        call.is_over = True
        if call.lease is not None:
            self.leases.settle(call, spend)
            return
        is_settled = False
        try:
            if call.reservation_id is not None:
                with suppress(httpx.HTTPError):
                    answer = await self.http.post(f"/reservations/{call.reservation_id}:settle", json=spend)
                    is_settled = answer.status_code == 200
        finally:
            # An event settles the reservation as well. Under the same settlement_id it counts once.
            if not is_settled:
                self.report(call, spend)

    def release(self, call):
        call.is_over = True
        if call.lease is not None:
            self.leases.release(call)
        elif call.reservation_id is not None:
            self.free(self.post_release(call.reservation_id))

    def abandon(self, call):
        """Of a call without a decision, nothing is to be held in the end."""
        if call.lease is not None:
            self.leases.release(call)
        elif call.is_asked:
            self.free(self.find_hold(call))

    async def post_release(self, reservation_id):
        await self.try_for_a_minute(f"/reservations/{reservation_id}:release", None)

    async def find_hold(self, call):
        """Of a request without an answer. It may be held all the same: then the call has it, or it is released."""
        await asyncio.sleep(DECISION_SECONDS)
        # This asks without holding anything, and answers what the request was granted before.
        answer = await self.try_for_a_minute("/reservations", {**self.request_of(call), "dry_run": True})
        reservation = answer.json().get("reservation") if answer and answer.status_code == 201 else None
        if reservation is None or reservation["state"] != "held":
            return
        if call.is_over:
            await self.post_release(reservation["id"])
        else:
            call.reservation_id = reservation["id"]

    async def try_for_a_minute(self, path, body):
        """The answer; None if there is none in time."""
        until, pause = time.monotonic() + RELEASE_SECONDS, 1
        while time.monotonic() < until:
            with suppress(httpx.HTTPError):
                answer = await self.http.post(path, json=body)
                if not is_temporary(answer.status_code):
                    return answer
            await asyncio.sleep(pause * random.uniform(0.5, 1))
            pause = min(pause * 2, MAX_PAUSE_SECONDS)
        return None

    def free(self, work):
        """In the background. A hold that is not released ends with its time, so there is a limit to these."""
        if self.releases >= MAX_RELEASES:
            work.close()
            return
        self.releases += 1
        self.in_background(work).add_done_callback(self.count_down)

    def count_down(self, _):
        self.releases -= 1

    def report(self, call, spend):
        event = {"specversion": "1.0", "id": spend["settlement_id"], "source": "litellm", "type": "spend.settled"}
        event["time"] = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        event["data"] = {**call.owner(), **spend}
        # Nobody has looked at the plan of a call that went through unasked, and a bad one would have all of it refused.
        if not re.fullmatch(PLAN_KEY, call.plan_key or ""):
            event["data"].pop("plan_key", None)
        if call.reservation_id is not None:
            event["data"]["reservation_id"] = call.reservation_id
        if len(self.events) >= MAX_WAITING_EVENTS:
            lose(event, "too many wait")
            return
        self.events.append((time.monotonic(), event))
        if self.reporter is None or self.reporter.done():
            self.reporter = self.in_background(self.report_all())

    async def report_all(self):
        size, pause = EVENTS_PER_REQUEST, 1
        while self.events:
            batch = [event for _, event in islice(self.events, size)]
            status = await self.post_events(batch)
            if status == 202:
                for _ in batch:
                    self.events.popleft()
                size, pause = EVENTS_PER_REQUEST, 1
            elif status in (400, 413):
                # One bad event refuses its batch. One by one, it shows which it is.
                if len(batch) == 1:
                    lose(self.events.popleft()[1], f"status {status}")
                size = 1
            else:
                while self.events and time.monotonic() - self.events[0][0] > MAX_EVENT_AGE_SECONDS:
                    lose(self.events.popleft()[1], f"status {status} for too long")
                await asyncio.sleep(pause * random.uniform(0.5, 1))
                pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def post_events(self, batch):
        headers = {"Content-Type": "application/cloudevents-batch+json"}
        try:
            return (await self.http.post("/events", content=json.dumps(batch), headers=headers)).status_code
        except httpx.HTTPError:
            return 503

    def in_background(self, work):
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task


def refusal(status, message, kind, headers):
    """An error in OpenAI's shape."""
    error = {"message": message, "type": kind, "param": None, "code": kind}
    exception = HTTPException(status, detail={"error": error}, headers=headers)
    # LiteLLM takes the type from here.
    exception.type = kind
    return exception


def seconds_until(moment):
    left = datetime.fromisoformat(moment.replace("Z", "+00:00")) - datetime.now(timezone.utc)
    return max(math.ceil(left.total_seconds()), 1)


def call_of(holder):
    for name in ("litellm_metadata", "metadata"):
        metadata = holder.get(name) if isinstance(holder, dict) else None
        call = metadata.get(CALL) if isinstance(metadata, dict) else None
        if isinstance(call, Call):
            return call
    return None


def values_of(name, sources):
    """The values of a field, of the source that goes first at first."""
    for source in sources:
        value = source.get(name) if isinstance(source, dict) else None
        if value not in (None, ""):
            yield value


def spend_of(call, details, amount_micros):
    """The body of a settlement. However often LiteLLM tells of it, a call has the same id."""
    payload = details.get("standard_logging_object") or {}
    spend = {
        "settlement_id": str(uuid.uuid5(uuid.UUID(call.id), str(details.get("litellm_call_id")))),
        "amount_micros": amount_micros,
        **to_names(payload.get("model"), payload.get("custom_llm_provider")),
        "input_tokens": payload.get("prompt_tokens"),
        "output_tokens": payload.get("completion_tokens"),
    }
    return {name: value for name, value in spend.items() if value is not None}


def to_names(model, provider):
    names = {"model": (model or "").removeprefix(f"{provider}/"), "provider": provider or ""}
    # At most 128 bytes.
    cut = {key: name.encode("utf-8", "ignore")[:128].decode("utf-8", "ignore") for key, name in names.items()}
    return {key: name for key, name in cut.items() if name}


def names_of(name):
    """The model and the provider that the settlement will have, as far as all deployments agree about them."""
    try:
        first, *others = (to_names(*routed(params)) for params, _ in deployments_of(name))
    except Exception:
        # LiteLLM knows no such model.
        return {}
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def routed(params):
    """The model and the provider of a deployment, as LiteLLM logs them."""
    model, api_base = params["model"], params.get("api_base")
    bare, provider, _, _ = litellm.get_llm_provider(model, params.get("custom_llm_provider"), api_base)
    # LiteLLM logs a model that is given with a path as it is given.
    return model if "/" in model else bare, provider


def deployments_of(name):
    """The parameters and the id of every deployment that may serve the request. LiteLLM chooses one of them later."""
    from litellm.proxy.proxy_server import llm_router

    found = (llm_router.get_model_list(model_name=name) if llm_router else None) or []
    deployments = [(deployment["litellm_params"], deployment["model_info"]["id"]) for deployment in found]
    return deployments or [({"model": name}, None)]


def prices_of(params, model_id):
    from litellm.proxy.proxy_server import llm_router

    if model_id is None:
        return dict(litellm.get_model_info(params["model"]))
    return llm_router.get_deployment_model_info(model_id, params["model"]) or {}


def was_priced(kwargs):
    """Whether LiteLLM has prices of the deployment that served the call. Without a router there is only one."""
    from litellm.proxy.proxy_server import llm_router

    model_id = ((kwargs.get("litellm_params") or {}).get("model_info") or {}).get("id")
    deployment = llm_router.get_deployment(model_id=model_id) if llm_router and model_id else None
    if deployment is None:
        return True
    return prices_of({"model": deployment.litellm_params.model}, model_id).get("input_cost_per_token") is not None


def count_prompt_tokens(data, model):
    messages, tools = data.get("messages"), data.get("tools")
    names = ("prompt", "input", "instructions", "system", "functions", "response_format", "text")
    rest = [data.get(name) for name in names]
    tokens = 0
    try:
        if messages:
            # An image is not fetched to be measured.
            options = {"tools": tools, "use_default_image_token_count": True}
            tokens = litellm.token_counter(model=model, messages=messages, **options)
        else:
            rest.append(tools)
    except Exception:
        # LiteLLM counts no messages or tools of some other form, such as Anthropic's. As text they are longer.
        tokens, rest = 0, [*rest, messages, tools]
    text = "\n".join(part if isinstance(part, str) else json.dumps(part) for part in rest if part)
    return tokens + (litellm.token_counter(model=model, text=text) if text else 0)


def rate(prices, name, prompt_tokens):
    """USD for a token. Some models ask more for long prompts: `…_above_200k_tokens`."""
    rates = [0.0]
    for key, value in prices.items():
        match = re.fullmatch(rf"{name}(?:_above_(\d+)k_tokens)?", key)
        if match and value and prompt_tokens >= int(match[1] or 0) * 1000:
            rates.append(float(value))
    return max(rates)


def to_micros(usd):
    """Rounded up, but for the dust behind the digits of a float."""
    return min(math.ceil(round(usd * 1e6, 3)), MAX_MICROS)


def to_identifier(text):
    return re.sub(r"[^A-Za-z0-9._:-]", "-", text)[:128]


def to_label(value):
    text = value if isinstance(value, str) else json.dumps(value) if isinstance(value, (int, float)) else ""
    text = "".join("-" if is_invisible(char) else char for char in text.strip())
    # Tollkeeper counts as UTF-16 does. Half a character is left out.
    return text.encode("utf-16-le")[:256].decode("utf-16-le", "ignore").strip()


def is_invisible(char):
    category = unicodedata.category(char)
    return category.startswith("C") or category in ("Zl", "Zp")


def is_temporary(status):
    return status >= 500 or status in (401, 403, 408, 429)


def lose(event, reason):
    log.error("spend was not reported (%s): %s", reason, json.dumps(event["data"]))


tollkeeper = Tollkeeper()

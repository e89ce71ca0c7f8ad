"""Leases by their specification, in memory, and a network that loses and delays, in virtual time."""

import asyncio
import json
import re
from dataclasses import dataclass, field

import httpx
import tollkeeper_leases

DENIAL = {"message": "The budget is used up.", "resets_at": "2026-11-22T00:00:00.000Z"}
REQUEST_SECONDS = 5


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its time passes at once, as soon as there is nothing else to do."""

    def __init__(self):
        super().__init__()
        self.at = 1000.0
        select = self._selector.select

        def jump(timeout):
            if timeout is None:
                raise RuntimeError("All wait, and nothing is left to happen.")
            self.at += timeout
            return select(0)

        self._selector.select = jump

    def time(self):
        return self.at


def run(work):
    """Runs it in virtual time, which leases see as well."""
    loop = VirtualLoop()
    tollkeeper_leases.now = loop.time
    try:
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(end_others())
        loop.close()


async def end_others():
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


@dataclass
class Call:
    id: str
    agent_id: str = "agent-a"
    run_id: str = "run-1"
    plan_key: str = None
    amount_micros: int = 100
    labels: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)
    lease: object = None

    def owner(self):
        labels = {"labels": self.labels} if self.labels else {}
        return {"agent_id": self.agent_id, "run_id": self.run_id, **self.names, **labels}


class Ledger:
    """A limit for each agent. Settlements count once by their ids."""

    def __init__(self, limits):
        self.limits = limits
        self.leases = {}
        self.spend = {}
        self.late_micros = self.above_micros = self.denials = 0
        self.renewals = set()

    def is_open(self, lease):
        return not lease["is_returned"] and asyncio.get_running_loop().time() < lease["expires_at"]

    def left(self, lease):
        return max(0, lease["amount"] - lease["settled"]) if self.is_open(lease) else 0

    def posted(self, agent_id=None):
        return sum(micros for agent, micros in self.spend.values() if agent_id in (None, agent))

    def held(self, agent_id=None):
        return sum(self.left(lease) for lease in self.leases.values() if agent_id in (None, lease["agent_id"]))

    def share(self, agent_id, wished, least):
        room = self.limits.get(agent_id, 10**9) - self.posted(agent_id) - self.held(agent_id)
        others = sum(self.is_open(lease) for lease in self.leases.values() if lease["agent_id"] == agent_id)
        return None if room < least else min(wished, max(least, room // (2 * (others + 1))))

    def answer(self, path, body):
        if path == "/leases":
            return self.grant(body)
        match = re.fullmatch(r"/leases/([^:]+):(\w+)", path)
        lease = self.leases.get(match[1]) if match else None
        if lease is None:
            return 404, {"error": "It is not found.", "code": "not_found"}
        return getattr(self, match[2])(lease, body) if match[2] != "return" else self.give_back(lease)

    def grant(self, body):
        lease_id = f"lse_{body['request_id']}"
        if lease_id not in self.leases:
            amount = self.share(body["agent_id"], body["amount_micros"], body["min_micros"])
            if amount is None:
                self.denials += 1
                return 200, {"decision": "denied", "denial": DENIAL}
            at = asyncio.get_running_loop().time()
            times = {"expires_at": at + body["ttl_seconds"], "is_returned": False}
            amounts = {"amount": amount, "settled": 0}
            self.leases[lease_id] = {"id": lease_id, "agent_id": body["agent_id"], **amounts, **times}
        return 201, {"decision": "allowed", "lease": self.content(self.leases[lease_id])}

    def renew(self, lease, body):
        if not self.is_open(lease):
            return 409, {"error": "It is over.", "code": "conflict"}
        if body["request_id"] not in self.renewals:
            self.renewals.add(body["request_id"])
            more = body["amount_micros"] - max(lease["amount"], lease["settled"])
            if more > 0:
                lease["amount"] += max(0, self.share(lease["agent_id"], more, 0) or 0)
            ends_at = asyncio.get_running_loop().time() + body["ttl_seconds"]
            lease["expires_at"] = max(lease["expires_at"], ends_at)
        return 200, self.content(lease)

    def settle(self, lease, body):
        results = []
        for settlement in body["settlements"]:
            micros, settlement_id = settlement["amount_micros"], settlement["settlement_id"]
            results.append({"settlement_id": settlement_id, "outcome": "settled"})
            if settlement_id in self.spend:
                continue
            self.spend[settlement_id] = lease["agent_id"], micros
            if self.is_open(lease):
                self.above_micros += max(0, micros - self.left(lease))
                lease["settled"] += micros
            else:
                self.late_micros += micros
        return 200, {"lease": self.content(lease), "results": results}

    def give_back(self, lease):
        lease["is_returned"] = True
        return 200, self.content(lease)

    def content(self, lease):
        is_open = self.is_open(lease)
        left_seconds = lease["expires_at"] - asyncio.get_running_loop().time() if is_open else 0
        state = "open" if is_open else "over"
        return {"id": lease["id"], "amount_micros": lease["amount"], "state": state, "expires_in_ms": left_seconds * 1000}


class World:
    """A proxy with leases, and the Tollkeeper that it asks."""

    def __init__(self, limits=None, ttl_seconds=60, hold_seconds=600):
        self.ledger = Ledger(limits or {})
        # Path and body of each request.
        self.received = []
        # What happens to the next requests, in their order: a status in place of an answer, or a coroutine function.
        self.faults = []
        # What happens to each further request.
        self.fault = None
        self.reported = []
        self.tasks = set()
        # When each settlement was made, and arrived.
        self.settled_at, self.arrived_at = {}, {}
        self.calls = 0
        http = httpx.AsyncClient(transport=httpx.MockTransport(self.handle), base_url="http://tollkeeper/api/v1")
        self.leases = tollkeeper_leases.Leases(
            http,
            spawn=self.spawn,
            report=lambda call, spend: self.reported.append((call.id, spend)),
            ttl_seconds=ttl_seconds,
            hold_seconds=hold_seconds,
            timeout_seconds=1.5,
        )
        self.leases.close_on_signals = lambda: None

    def spawn(self, work):
        task = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def handle(self, request):
        path = request.url.path.removeprefix("/api/v1")
        body = json.loads(request.content) if request.content else None
        self.received.append((path, body))
        fault = self.faults.pop(0) if self.faults else self.fault
        if isinstance(fault, int):
            return httpx.Response(fault, json={"error": "It fails.", "code": "failed"})
        if fault is not None:
            await fault(path, body)
        return self.decide(path, body)

    def decide(self, path, body):
        status, content = self.ledger.answer(path, body)
        if path.endswith(":settle"):
            for settlement in body["settlements"]:
                self.arrived_at.setdefault(settlement["settlement_id"], asyncio.get_running_loop().time())
        return httpx.Response(status, json=content)

    def new_call(self, **values):
        self.calls += 1
        return Call(id=f"call-{self.calls}", **values)

    async def reserve(self, **values):
        """The call, held in a lease, and the denial if there is one."""
        call = self.new_call(**values)
        return call, None if self.leases.take(call) else await self.leases.ask(call)

    def settle(self, call, amount_micros):
        self.settled_at[call.id] = asyncio.get_running_loop().time()
        self.leases.settle(call, {"settlement_id": call.id, "amount_micros": amount_micros})

    def bodies(self, end):
        return [body for path, body in self.received if path.endswith(end)]


async def hang(*_):
    await asyncio.sleep(REQUEST_SECONDS)
    raise httpx.ReadTimeout("no answer")

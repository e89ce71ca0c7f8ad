"""Holds calls in leases, in the memory of this process. tollkeeper_litellm.py, beside this file, uses it.

A lease is an amount that Tollkeeper holds once for many calls of an agent. Only Tollkeeper denies calls: one that no
lease covers asks for a lease, or for a reservation of its own.
"""

import asyncio
import math
import random
import signal
import time
import uuid
from contextlib import suppress
from itertools import takewhile

import httpx
from tollkeeper_settlements import Settlements

# No change of the system's clock affects it.
now = time.monotonic

MAX_MICROS = 2**53 - 1
# A lease is for what its calls spend in this time.
TARGET_SECONDS = 5
# The pace of the first calls counts as if it had lasted for this part of TARGET_SECONDS.
LEAST_PART = 1 / 8
# Clocks of processes differ in speed, so a lease is not trusted for all of its time.
TRUSTED_PART = 0.9
# How long calls that no lease covers reserve for themselves after a denial or a failure.
BY_CALL_SECONDS = 1
# Calls that are slower than others wait for this many questions, and then reserve for themselves.
MAX_QUESTIONS = 4
MAX_HOLDERS = 1000
KEEP_EVERY_SECONDS = 1
# With more settlements, calls reserve and settle for themselves, as fast as Tollkeeper does.
MAX_WAITING = 10_000
CLOSE_SECONDS = 5


class Unavailable(Exception):
    """Tollkeeper gave no decision."""


class Refused(Exception):
    """Tollkeeper grants no lease, such as to an unknown plan. A reservation shows why."""


async def ask(http, path, body):
    """Asks again after 503, which means that Tollkeeper is busy or restarting. The same id is held once."""
    while True:
        answer = await http.post(path, json=body)
        if answer.status_code != 503:
            return answer
        await asyncio.sleep(random.uniform(0.5, 1))


class Lease:
    """A lease, and what this process has granted from it. `used + held <= amount` after each hold."""

    def __init__(self, holder, granted, sent_at):
        self.holder = holder
        self.id = granted["id"]
        self.amount_micros = granted["amount_micros"]
        self.ends_at = trusted_until(sent_at, granted)
        # The answer to a repeated question may say that it has ended meanwhile.
        self.is_open = granted["state"] == "open"
        # Whether Tollkeeper lets it last no longer, such as at the end of a day.
        self.is_final = False
        # Settled by calls, whether Tollkeeper has the settlements yet or not.
        self.used_micros = 0
        self.held_micros = 0
        # The amount and the end of each hold, by the id of its call. All last equally long, so the first ends first.
        self.holds = {}

    @property
    def free_micros(self):
        return self.amount_micros - self.used_micros - self.held_micros

    def is_usable(self):
        return self.is_open and now() < self.ends_at

    def covers(self, amount_micros):
        return amount_micros <= self.free_micros and self.is_usable()

    def hold(self, call, until):
        self.held_micros += call.amount_micros
        self.holds[call.id] = call.amount_micros, until

    def free(self, call_id):
        amount_micros, _ = self.holds.pop(call_id, (0, None))
        self.held_micros -= amount_micros

    def expire(self):
        """Ends the holds of calls that were neither settled nor released in their time."""
        at = now()
        for call_id, _ in list(takewhile(lambda item: item[1][1] <= at, self.holds.items())):
            self.free(call_id)


class Holder:
    """The lease for the calls that the same budgets see. It asks one question at a time."""

    def __init__(self, leases, facts):
        self.leases = leases
        self.facts = facts
        self.lease = None
        # Leases that are no longer granted from, until their calls are over.
        self.replaced = []
        # The task of the question in flight, which no client that goes away ends.
        self.question = None
        # What the calls need that wait for it.
        self.waiting_micros = 0
        # What was spent lately, which counts the less the longer ago it was.
        self.recent_micros = 0
        self.started_at = self.recent_at = now()
        # What was free when Tollkeeper last answered.
        self.answered_micros = 0
        # Whether the last renewal gave less than asked for, so that only another lease may give more.
        self.is_spent = False
        self.used_at = self.by_call_until = -math.inf

    def hold(self, call):
        """Holds the call if the lease covers it. Asks for more in the background when half is used."""
        lease = self.lease
        if lease is None or not lease.covers(call.amount_micros):
            return False
        self.used_at = now()
        lease.hold(call, self.used_at + self.leases.hold_seconds)
        call.lease = lease
        if lease.free_micros * 2 < self.answered_micros and not self.is_spent:
            self.renew_in_background(lease)
        return True

    async def ask(self, call):
        """A denial; None if the call is held in a lease now, or is to reserve for itself. Raises Unavailable."""
        for _ in range(MAX_QUESTIONS):
            if now() < self.by_call_until:
                return None
            is_own = self.question is None
            waiting_micros = 0 if is_own else call.amount_micros
            question = self.in_turn(self.ask_server(call)) if is_own else self.question
            self.waiting_micros += waiting_micros
            try:
                await asyncio.wait({question})
            finally:
                self.waiting_micros -= waiting_micros
            if self.hold(call):
                return None
            answer = question.result() if is_own else None
            if isinstance(answer, Unavailable):
                raise answer
            if answer is not None:
                return answer
        return None

    async def ask_server(self, call):
        """A denial, or why there is no decision. None if the lease may cover the call now."""
        try:
            if self.lease is not None and self.lease.is_usable() and not self.is_spent:
                await self.renew(self.lease, call.amount_micros + self.waiting_micros)
                if self.lease.covers(call.amount_micros):
                    return None
            denial = await self.grant(call)
            # A lease of just this call shows that a limit has little left.
            if denial is not None or self.answered_micros <= call.amount_micros:
                self.by_call_until = now() + BY_CALL_SECONDS
            return denial
        except (Unavailable, Refused) as error:
            self.by_call_until = now() + BY_CALL_SECONDS
            return error if isinstance(error, Unavailable) else None

    async def grant(self, call):
        wished = max(call.amount_micros, self.wish_of(call.amount_micros + self.waiting_micros, 0))
        body = {"request_id": str(uuid.uuid4()), **self.facts, "run_id": call.run_id, "amount_micros": wished}
        body = {**body, "min_micros": call.amount_micros, "ttl_seconds": self.leases.ttl_seconds}
        sent_at = now()
        status, content = await self.leases.decide("/leases", body)
        if status not in (200, 201):
            raise Refused
        try:
            if content["decision"] == "denied":
                return content["denial"]
            lease = Lease(self, content["lease"], sent_at)
        except (KeyError, TypeError) as error:
            raise Unavailable(type(error).__name__) from None
        if self.lease is not None:
            self.replaced.append(self.lease)
        self.lease = lease
        self.note(lease, is_spent=False)
        return None

    async def renew(self, lease, need_micros):
        used = lease.used_micros + lease.held_micros
        wish = self.wish_of(need_micros, lease.held_micros) if lease is self.lease else 0
        wished = min(max(lease.amount_micros, used + wish), MAX_MICROS)
        body = {"request_id": str(uuid.uuid4()), "amount_micros": wished, "ttl_seconds": self.leases.ttl_seconds}
        sent_at = now()
        status, renewed = await self.leases.decide(f"/leases/{lease.id}:renew", body)
        if status not in (200, 404, 409):
            raise Refused
        try:
            if status != 200 or renewed["state"] != "open":
                lease.is_open = False
                return
            lease.amount_micros = renewed["amount_micros"]
            lease.ends_at = max(lease.ends_at, trusted_until(sent_at, renewed))
            lease.is_final = renewed["expires_in_ms"] < self.leases.ttl_seconds * 1000 * TRUSTED_PART
        except (KeyError, TypeError) as error:
            raise Unavailable(type(error).__name__) from None
        if lease is self.lease:
            self.note(lease, is_spent=lease.amount_micros < wished)

    def note(self, lease, is_spent):
        self.answered_micros = lease.free_micros
        self.is_spent = is_spent

    def wish_of(self, need_micros, held_micros):
        """What is to be free: what waiting calls need, and what further calls will spend or hold."""
        wish = math.ceil(need_micros + max(self.spend_of_target(), held_micros + need_micros))
        return max(0, min(wish, MAX_MICROS - held_micros))

    def spend_of_target(self):
        """What calls spend in TARGET_SECONDS, at their pace of that time or since the first of them."""
        at = now()
        self.recent_micros *= math.exp((self.recent_at - at) / TARGET_SECONDS)
        self.recent_at = at
        elapsed = max(at - self.started_at, TARGET_SECONDS * LEAST_PART)
        return self.recent_micros / (1 - math.exp(-elapsed / TARGET_SECONDS))

    def keep(self):
        """Keeps leases as long as their calls need them. False if there is nothing to keep."""
        for old in list(self.replaced):
            old.expire()
            if not old.is_usable():
                self.replaced.remove(old)
            elif not old.holds:
                self.leases.give_back(old)
            elif self.ends_soon(old) and self.question is None:
                self.in_turn(self.renew_quietly(old))
        lease = self.lease
        if lease is not None:
            lease.expire()
        is_usable = lease is not None and lease.is_usable()
        if is_usable and (now() - self.used_at < TARGET_SECONDS or lease.holds) and self.ends_soon(lease):
            self.renew_in_background(lease)
        return is_usable or self.replaced or self.question is not None

    def ends_soon(self, lease):
        """From half of its time on, so that a failure leaves time for others."""
        return not lease.is_final and lease.ends_at - now() < self.leases.ttl_seconds * TRUSTED_PART / 2

    def renew_in_background(self, lease):
        """Calls that no lease covers wait for the answer."""
        if self.question is None:
            # After a failure, the next attempt is when half of the rest is used.
            self.answered_micros = lease.free_micros
            self.in_turn(self.renew_quietly(lease))

    async def renew_quietly(self, lease):
        # Without an answer, the lease stays as it is.
        with suppress(Unavailable, Refused):
            await self.renew(lease, self.waiting_micros)

    def in_turn(self, work):
        def end(_):
            self.question = None

        self.question = self.leases.spawn(work)
        self.question.add_done_callback(end)
        return self.question


class Leases:
    """Holds calls in leases, and settles them in batches."""

    def __init__(self, http, *, spawn, report, ttl_seconds, hold_seconds, timeout_seconds):
        self.http = http
        # Starts a task that is not lost.
        self.spawn = spawn
        # How long a lease holds its amount after this process has died.
        self.ttl_seconds = ttl_seconds
        # How long the amount of a call that never ends is held in its lease.
        self.hold_seconds = hold_seconds
        self.timeout_seconds = timeout_seconds
        self.holders = {}
        self.settlements = Settlements(http, spawn=spawn, report=report, is_settled=self.is_settled)
        self.returns = set()
        self.keeper = None
        # Whether nothing is granted any more.
        self.is_closing = False

    def take(self, call):
        """Holds the call if a lease covers it now."""
        holder = None if self.is_full() else self.holders.get(key_of(call))
        return holder is not None and holder.hold(call)

    async def ask(self, call):
        """A denial; None if the call is held in a lease now, or is to reserve for itself. Raises Unavailable."""
        holder = None if self.is_full() else self.holder_of(call)
        return None if holder is None else await holder.ask(call)

    def settle(self, call, spend):
        lease = call.lease
        lease.free(call.id)
        lease.used_micros += spend["amount_micros"]
        lease.holder.recent_micros += spend["amount_micros"]
        self.settlements.add(lease, call, spend)

    def release(self, call):
        call.lease.free(call.id)
        self.is_settled(call.lease)

    async def close(self):
        """Grants nothing more, settles, and returns the leases that no call holds. Others follow with their calls."""
        self.is_closing = True
        questions = [holder.question for holder in self.holders.values() if holder.question is not None]
        if questions:
            await asyncio.wait(questions)
        await self.settlements.close()
        for holder in self.holders.values():
            for lease in filter(None, (holder.lease, *holder.replaced)):
                self.give_back(lease)
        if self.returns:
            await asyncio.wait(set(self.returns))

    def close_on_signals(self):
        """Closes before the handler of the process, such as uvicorn's, gets the signal; a second one goes there."""
        loop = asyncio.get_running_loop()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
        before = {number: handler for number, handler in handlers.items() if handler not in (None, signal.SIG_IGN)}

        async def close_first(number):
            try:
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self.close(), CLOSE_SECONDS)
            finally:
                signal.raise_signal(number)

        def handle(number, _):
            for each, handler in before.items():
                signal.signal(each, handler)
            try:
                loop.call_soon_threadsafe(lambda: self.spawn(close_first(number)))
            except RuntimeError:
                # The event loop has ended.
                signal.raise_signal(number)

        # Only the main thread gets signals. In another one, leases end with their time.
        with suppress(ValueError):
            for number in before:
                signal.signal(number, handle)

    def is_full(self):
        return self.is_closing or self.settlements.waiting >= MAX_WAITING

    def holder_of(self, call):
        key = key_of(call)
        if key not in self.holders and len(self.holders) < MAX_HOLDERS:
            facts = {name: value for name, value in call.owner().items() if name != "run_id"}
            self.holders[key] = Holder(self, facts)
            if self.keeper is None:
                self.close_on_signals()
            if self.keeper is None or self.keeper.done():
                self.keeper = self.spawn(self.keep_all())
        return self.holders.get(key)

    async def keep_all(self):
        while self.holders:
            await asyncio.sleep(KEEP_EVERY_SECONDS)
            self.holders = {key: holder for key, holder in self.holders.items() if holder.keep()}

    async def decide(self, path, body):
        """The status and the content of an answer. Raises Unavailable."""
        try:
            answer = await asyncio.wait_for(ask(self.http, path, body), self.timeout_seconds)
            if answer.status_code < 500:
                return answer.status_code, answer.json()
        except (httpx.HTTPError, asyncio.TimeoutError, ValueError) as error:
            raise Unavailable(type(error).__name__) from None
        raise Unavailable(f"status {answer.status_code}")

    def is_settled(self, lease):
        """Returns a lease behind the last of its calls, once nothing is granted any more."""
        if self.is_closing:
            self.give_back(lease)

    def give_back(self, lease):
        """Frees what a lease holds, unless it is needed for a call. If that fails, it ends with its time."""
        if lease.is_usable() and not lease.holds and not self.settlements.has(lease):
            lease.is_open = False
            task = self.spawn(self.post_return(lease))
            self.returns.add(task)
            task.add_done_callback(self.returns.discard)

    async def post_return(self, lease):
        with suppress(httpx.HTTPError):
            await self.http.post(f"/leases/{lease.id}:return")


def key_of(call):
    """Calls with the same key are seen by the same budgets."""
    return call.agent_id, call.plan_key, frozenset(call.labels.items()), frozenset(call.names.items())


def trusted_until(sent_at, lease):
    """Counted from before the question, since its way to Tollkeeper is part of the round trip."""
    return sent_at + lease["expires_in_ms"] / 1000 * TRUSTED_PART

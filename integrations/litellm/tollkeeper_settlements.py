"""Sends the settlements of calls that are held in leases. tollkeeper_leases.py, beside this file, uses it."""

import asyncio
import json
import logging
import random
from collections import deque
from contextlib import suppress
from datetime import datetime, timezone
from itertools import islice

import httpx

log = logging.getLogger("tollkeeper_litellm")

# The longest time that a settlement exists only in this process, while Tollkeeper answers.
LINGER_SECONDS = 0.1
# Tollkeeper's limit. A server that is slow answers small requests in time.
MAX_BATCH, MIN_BATCH = 1000, 50
# Requests in flight, each for another lease.
MAX_OUT = 4
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.2, 5
# Sending the same again cannot help.
REFUSALS = (400, 404, 409, 413)


class Lane:
    """The settlements of one lease that wait or are in flight: when they were added, their calls and their bodies."""

    def __init__(self):
        self.waiting = deque()
        # The task that sends them.
        self.sender = None


class Settlements:
    """Sends settlements in batches until they are durable, always with the same ids."""

    def __init__(self, http, *, spawn, report, is_settled):
        self.http = http
        self.spawn = spawn
        # Records the spend of a call that its lease cannot take.
        self.report = report
        # Called once all settlements of a lease are durable.
        self.is_settled = is_settled
        # By the lease.
        self.lanes = {}
        # How many wait or are in flight.
        self.waiting = 0
        self.turns = asyncio.Semaphore(MAX_OUT)
        # Set once they are sent without waiting for others.
        self.closing = asyncio.Event()

    def has(self, lease):
        return lease in self.lanes

    def add(self, lease, call, spend):
        """Sends the settlement with those of the next LINGER_SECONDS."""
        occurred_at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        settlement = {**spend, "run_id": call.run_id, "occurred_at": occurred_at}
        lane = self.lanes.get(lease)
        if lane is None:
            lane = self.lanes[lease] = Lane()
            lane.sender = self.spawn(self.send_all(lease, lane.waiting))
        lane.waiting.append((asyncio.get_running_loop().time(), call, spend, settlement))
        self.waiting += 1

    async def close(self):
        """Sends all at once from now on. Ends when those so far are durable."""
        self.closing.set()
        while self.lanes:
            await asyncio.wait([lane.sender for lane in self.lanes.values()])

    async def send_all(self, lease, waiting):
        """Sends the settlements of a lease."""
        size, failures = MAX_BATCH, 0
        while waiting:
            await self.linger(waiting[0])
            batch = list(islice(waiting, size))
            async with self.turns:
                left, retry_after = await self.post_settlements(lease, batch)
            for _ in batch:
                waiting.popleft()
            waiting.extendleft(reversed(left))
            self.waiting -= len(batch) - len(left)
            if left:
                size, failures = max(MIN_BATCH, size // 2), failures + 1
                pause = min(FIRST_PAUSE_SECONDS * 2 ** (failures - 1), MAX_PAUSE_SECONDS) * random.uniform(0.5, 1)
                await asyncio.sleep(max(pause, retry_after))
            else:
                size, failures = min(MAX_BATCH, size + MIN_BATCH), 0
        del self.lanes[lease]
        self.is_settled(lease)

    async def linger(self, first):
        """Waits for further settlements, until the first has waited for LINGER_SECONDS."""
        left = first[0] + LINGER_SECONDS - asyncio.get_running_loop().time()
        if left > 0:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.closing.wait(), left)

    async def post_settlements(self, lease, batch):
        """Those that are to be sent again, and in how many seconds at the earliest."""
        body = {"settlements": [settlement for *_, settlement in batch]}
        try:
            answer = await self.http.post(f"/leases/{lease.id}:settle", json=body)
            if answer.status_code == 200:
                content = answer.json()
                outcomes = [result["outcome"] for result in content["results"]]
                if content["lease"]["state"] != "open":
                    lease.is_open = False
                for (*_, settlement), outcome in zip(batch, outcomes):
                    if outcome == "conflict":
                        log.error("spend was not counted (its id is that of another call): %s", json.dumps(settlement))
                return [], 0
        except (httpx.HTTPError, ValueError, KeyError, TypeError):
            return batch, 0
        except Exception:
            # Such as of the event loop about a closed connection. They must neither be lost nor hold up others.
            log.exception("settlements could not be sent, and are sent again")
            return batch, 0
        if answer.status_code not in REFUSALS:
            return batch, retry_after_of(answer)
        if len(batch) == 1:
            _, call, spend, _ = batch[0]
            self.report(call, spend)
            return [], 0
        # A batch is refused as a whole. Halving it keeps one settlement from affecting the others.
        half = len(batch) // 2
        first, first_after = await self.post_settlements(lease, batch[:half])
        second, second_after = await self.post_settlements(lease, batch[half:])
        return [*first, *second], max(first_after, second_after)


def retry_after_of(answer):
    seconds = answer.headers.get("Retry-After", "")
    return min(int(seconds), 60) if seconds.isascii() and seconds.isdigit() else 0

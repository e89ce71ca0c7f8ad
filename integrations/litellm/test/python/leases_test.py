"""Run by leases.tools.spec.ts: each function is a guarantee of leases in the plug-in."""

import asyncio
import logging
import random
import signal
import sys

import httpx
import tollkeeper_leases
from lease_world import DENIAL, REQUEST_SECONDS, World, hang, run

TTL_SECONDS = 20
HISTORIES = 40


async def a_further_call_is_held_in_memory_while_tollkeeper_answers_nothing():
    world = World()
    first, _ = await world.reserve()
    world.fault = hang
    second = world.new_call()
    assert world.leases.take(second)
    assert second.lease is first.lease and first.lease is not None
    grant = {"amount_micros": 200, "min_micros": 100, "ttl_seconds": 60, "run_id": "run-1", "agent_id": "agent-a"}
    assert world.bodies("/leases")[0].items() >= grant.items()


async def a_call_of_another_agent_plan_model_or_label_has_another_lease():
    world = World()
    others = ({"agent_id": "agent-b"}, {"plan_key": "plan-a"}, {"names": {"model": "m"}}, {"labels": {"env": "dev"}})
    calls = [(await world.reserve(**other))[0] for other in ({}, *others)]
    assert len({call.lease.id for call in calls}) == 5
    again, _ = await world.reserve(labels={"env": "dev"})
    assert again.lease is calls[-1].lease


async def calls_at_once_ask_one_question_at_a_time_and_all_are_held():
    world = World()
    in_flight, most = 0, 0

    async def slow(*_):
        nonlocal in_flight, most
        in_flight += 1
        most = max(most, in_flight)
        await asyncio.sleep(0.01)
        in_flight -= 1

    world.fault = slow
    calls = await asyncio.gather(*(world.reserve() for _ in range(40)))
    assert all(call.lease is not None for call, _ in calls)
    assert most == 1 and len(world.received) < 8, (most, len(world.received))


async def a_denial_is_tollkeepers_and_calls_that_waited_for_it_reserve_for_themselves():
    world = World(limits={"agent-a": 99})
    (large, denial), *others = await asyncio.gather(*(world.reserve(amount_micros=amount) for amount in (100, 10, 20)))
    assert denial == DENIAL and large.lease is None
    assert [(call.lease, denial) for call, denial in others] == [(None, None)] * 2
    assert len(world.received) == 1
    # A second later, leases are asked for again.
    await asyncio.sleep(1)
    call, _ = await world.reserve(amount_micros=10)
    assert call.lease is not None


async def a_lease_is_renewed_in_the_background_when_half_is_used_for_five_seconds_of_spend():
    world = World()
    for _ in range(400):
        call, denial = await world.reserve()
        assert call.lease is not None and denial is None
        await asyncio.sleep(0.05)
        world.settle(call, 100)
    assert len(world.bodies("/leases")) == 1
    renewals = [body["amount_micros"] for body in world.bodies(":renew")]
    # 2,000 micros a second: each renewal is for 5 seconds, of which half is used before the next.
    assert 4 <= len(renewals) <= 16, renewals
    assert 4_000 <= call.lease.free_micros <= 12_000, call.lease.free_micros


async def settlements_go_together_after_at_most_100_ms():
    world = World()
    calls = [(await world.reserve())[0] for _ in range(3)]
    for call in calls:
        await asyncio.sleep(0.04)
        world.settle(call, 7)
    assert world.bodies(":settle") == []
    await asyncio.sleep(0.021)
    (body,) = world.bodies(":settle")
    ids = [(each["settlement_id"], each["run_id"], each["amount_micros"]) for each in body["settlements"]]
    assert ids == [(call.id, "run-1", 7) for call in calls]


async def settlements_are_repeated_with_the_same_ids_until_they_are_accepted():
    for failure in (503, 429, 401, hang):
        world = World()
        call, _ = await world.reserve()
        world.faults = [failure, failure]
        world.settle(call, 7)
        await asyncio.sleep(30)
        first, *others = world.bodies(":settle")
        assert others == [first, first] and world.ledger.posted() == 7, failure


async def settlements_are_sent_again_after_an_unforeseen_error_and_so_are_those_that_follow():
    logging.getLogger("tollkeeper_litellm").disabled = True
    world = World()
    calls = [(await world.reserve())[0] for _ in range(2)]

    async def break_down(path, _):
        if path.endswith(":settle"):
            world.fault = None
            raise RuntimeError("The transport is closed.")

    world.fault = break_down
    for call in calls:
        world.settle(call, 7)
        await asyncio.sleep(1)
    assert world.ledger.posted() == 14
    await world.leases.close()
    assert world.ledger.held() == 0


async def a_signal_reaches_the_handler_of_the_process_though_closing_fails():
    world, has_ended = World(), asyncio.Event()
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: has_ended.set())

    async def fail():
        raise RuntimeError("It cannot close.")

    world.leases.close = fail
    tollkeeper_leases.Leases.close_on_signals(world.leases)
    signal.raise_signal(signal.SIGTERM)
    await asyncio.wait_for(has_ended.wait(), 10)


async def a_refused_settlement_is_reported_as_an_event_and_others_are_settled_beside_it():
    world = World()
    calls = [(await world.reserve())[0] for _ in range(5)]

    async def refuse(path, body):
        if path.endswith(":settle") and any(each["settlement_id"] == calls[3].id for each in body["settlements"]):
            world.ledger.answer = lambda *_: (400, {"error": "It is invalid.", "code": "invalid_request"})
        else:
            world.ledger.__dict__.pop("answer", None)

    world.fault = refuse
    for call in calls:
        world.settle(call, 7)
    await asyncio.sleep(1)
    assert [call_id for call_id, _ in world.reported] == [calls[3].id]
    assert world.ledger.posted() == 28


async def a_failed_call_frees_its_amount_at_once():
    world = World()
    call, _ = await world.reserve()
    free = call.lease.free_micros
    world.leases.release(call)
    assert call.lease.free_micros == free + 100
    # A second release frees nothing more.
    world.leases.release(call)
    assert call.lease.free_micros == free + 100 and call.lease.held_micros == 0


async def a_client_that_goes_away_ends_no_question_of_others():
    world = World()

    async def slow(*_):
        await asyncio.sleep(0.5)

    world.fault = slow
    asker = asyncio.create_task(world.reserve())
    await asyncio.sleep(0.1)
    other = asyncio.create_task(world.reserve())
    await asyncio.sleep(0.1)
    asker.cancel()
    call, _ = await other
    assert call.lease is not None and call.lease.held_micros == 100
    assert len(world.bodies("/leases")) == 1


async def a_lease_is_trusted_for_nine_tenths_of_its_time_from_before_it_was_asked_for():
    world = World(ttl_seconds=10)

    async def slow(*_):
        await asyncio.sleep(1)

    world.faults = [slow]
    started = asyncio.get_running_loop().time()
    call, _ = await world.reserve()
    world.leases.release(call)
    world.fault = hang
    await asyncio.sleep(started + 8.9 - asyncio.get_running_loop().time())
    assert world.leases.take(world.new_call())
    await asyncio.sleep(0.2)
    assert not world.leases.take(world.new_call())


async def a_lease_is_kept_as_long_as_a_call_holds_a_part_of_it_and_then_ends():
    world = World(ttl_seconds=10, hold_seconds=120)
    call, _ = await world.reserve()
    await asyncio.sleep(100)
    assert world.ledger.held() > 0 and call.lease.is_usable()
    # The call never ends. Its hold does.
    await asyncio.sleep(60)
    assert world.ledger.held() == 0
    assert not world.leases.holders


async def calls_reserve_for_themselves_when_too_many_settlements_wait():
    world = World()
    call, _ = await world.reserve()
    world.fault = 503
    world.leases.settlements.waiting = tollkeeper_leases.MAX_WAITING
    assert not world.leases.take(world.new_call())
    assert await world.leases.ask(world.new_call()) is None
    assert len(world.received) == 1 and call.lease.held_micros == 100


async def while_tollkeeper_answers_nothing_a_call_without_a_lease_has_no_decision():
    for failure in (500, hang):
        world = World()
        world.fault = failure
        try:
            await world.reserve()
            raise AssertionError("It was decided.")
        except tollkeeper_leases.Unavailable:
            pass


async def a_tollkeeper_without_leases_is_asked_for_each_call():
    world = World()
    world.fault = 404
    for _ in range(3):
        call, denial = await world.reserve()
        assert call.lease is None and denial is None
    assert len(world.received) == 1


async def closing_settles_and_returns_and_a_lease_with_a_running_call_follows_with_it():
    world = World()
    calls = [(await world.reserve(agent_id=agent))[0] for agent in ("agent-a", "agent-b", "agent-c")]
    world.settle(calls[0], 7)
    started = asyncio.get_running_loop().time()
    await world.leases.close()
    assert asyncio.get_running_loop().time() - started < 0.05
    assert world.ledger.posted() == 7
    assert world.ledger.held("agent-a") == 0 and world.ledger.held("agent-b") > 0
    assert not world.leases.take(world.new_call())
    world.settle(calls[1], 5)
    world.leases.release(calls[2])
    await asyncio.sleep(0.01)
    assert world.ledger.held() == 0 and world.ledger.posted() == 12
    assert world.ledger.late_micros == 0


async def ninety_nine_percent_of_a_budget_can_be_spent_before_the_first_denial():
    world = World(limits={"agent-a": 20_000})
    while True:
        call, denial = await world.reserve(amount_micros=20)
        if denial is not None:
            break
        if call.lease is None:
            # It reserves for itself, which this ledger does not know, until leases are asked for again.
            await asyncio.sleep(1)
            continue
        world.settle(call, 20)
    await asyncio.sleep(1)
    assert 19_800 <= world.ledger.posted() <= 20_000


class Player:
    """Makes calls at random times, of random costs, that take a random time."""

    def __init__(self, seed, losses):
        self.random = random.Random(seed)
        self.losses = losses
        self.max_delay = 5 if losses and seed % 2 else 0.02
        self.world = World(limits={"agent-a": 40_000, "agent-b": 9_000}, ttl_seconds=TTL_SECONDS)
        self.world.fault = self.network
        self.granted = {}
        self.settled = []

    async def network(self, path, body):
        await asyncio.sleep(self.random.random() * self.max_delay)
        if self.random.random() < self.losses:
            raise httpx.ReadTimeout("It was lost.")
        if self.random.random() < self.losses:
            # The answer is lost, or the request arrives again later.
            self.world.decide(path, body)
            await asyncio.sleep(self.random.random() * REQUEST_SECONDS)
            if self.random.random() < 0.5:
                raise httpx.ReadTimeout("Its answer was lost.")

    async def call(self):
        amount = self.random.randint(1, 300)
        try:
            call, _ = await self.world.reserve(agent_id=self.random.choice(("agent-a", "agent-b")), amount_micros=amount)
        except tollkeeper_leases.Unavailable:
            return
        if call.lease is None:
            return
        lease = self.world.ledger.leases[call.lease.id]
        assert self.world.ledger.is_open(lease), "granted from a lease that is over"
        self.granted[call.lease.id] = self.granted.get(call.lease.id, 0) + amount
        assert self.granted[call.lease.id] <= lease["amount"], "granted more than the lease has"
        await asyncio.sleep(self.random.random() * (60 if self.random.random() < 0.1 else 0.5))
        cost = None if self.random.random() < 0.1 else self.random.randint(0, amount)
        self.granted[call.lease.id] += (cost or 0) - amount
        if cost is None:
            self.world.leases.release(call)
        else:
            self.settled.append(cost)
            self.world.settle(call, cost)

    async def play(self):
        # The clock of this process is slower or faster than that of Tollkeeper.
        speed, time = self.random.uniform(0.97, 1.03), asyncio.get_running_loop().time
        tollkeeper_leases.now = lambda: time() * speed
        calls = []
        for _ in range(60):
            await asyncio.sleep(self.random.random() * 3)
            calls += [asyncio.create_task(self.call()) for _ in range(self.random.randint(1, 8))]
        await asyncio.gather(*calls)
        await self.world.leases.close()
        await asyncio.sleep(3600)
        ledger = self.world.ledger
        assert ledger.posted() == sum(self.settled), "a settlement was lost, or counted twice"
        assert ledger.held() == 0 and ledger.above_micros == 0 and not self.world.reported
        assert ledger.posted("agent-b") <= 9_000 + ledger.late_micros
        assert self.losses or ledger.late_micros == 0
        assert len(self.settled) > 50


def in_every_history_calls_are_held_within_open_leases_and_count_once():
    for losses in (0, 0.05):
        for seed in range(HISTORIES):
            try:
                run(Player(seed, losses).play())
            except Exception as error:
                raise AssertionError(f"seed {seed}, losses {losses}") from error


if __name__ == "__main__":
    guarantee = globals()[sys.argv[1]]
    if asyncio.iscoroutinefunction(guarantee):
        run(guarantee())
    else:
        guarantee()

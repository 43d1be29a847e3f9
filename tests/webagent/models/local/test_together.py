"""Many requests at once: each gets what it would get alone, and none is in another's way."""

import asyncio
import random
import time

import pytest

from tests.webagent.models.local.conftest import Make, said
from webagent.errors import ModelError
from webagent.models.local import Generation, LocalModel

WORDS = ("press", "the", "button", "that is", "called", "OK", "write", "a name", "scroll")


def requests(count: int) -> list[dict[str, object]]:
    """Requests of mixed lengths, temperatures and numbers of replies."""
    chance = random.Random(5)
    return [
        {
            "prompt": said(" ".join(chance.choices(WORDS, k=chance.randint(1, 120)))),
            "n": chance.randint(1, 3),
            "temperature": chance.choice([0.0, 0.7, 1.0]),
            "seed": number,
            "max_tokens": chance.randint(1, 24),
        }
        for number in range(count)
    ]


async def ask(model: LocalModel, request: dict) -> tuple:
    """The ids of the replies, and their log-probabilities."""
    prompt, rest = request["prompt"], {k: v for k, v in request.items() if k != "prompt"}
    completion = await model.complete(prompt, **rest)
    return (
        [reply.token_ids for reply in completion.replies],
        [value for reply in completion.replies for value in reply.log_probs],
    )


@pytest.mark.slow
async def test_32_requests_of_mixed_lengths_get_what_each_gets_alone(make: Make):
    asked = requests(32)
    model = make(generation=Generation(max_rows=24))
    together = await asyncio.gather(*(ask(model, request) for request in asked))
    alone = [await ask(make_alone, request) for make_alone in [make()] for request in asked]
    assert [ids for ids, _ in together] == [ids for ids, _ in alone]
    for (_, one), (_, other) in zip(together, alone, strict=True):
        assert one == pytest.approx(other, abs=1e-9)
    assert model._worker.engine.decoder.passes < 0.7 * sum(r["max_tokens"] for r in asked)


async def test_the_loop_goes_on_and_a_request_joins_while_another_is_written(make: Make):
    model = make()
    long = asyncio.create_task(
        model.complete(said("one"), temperature=3.0, seed=1, max_tokens=3000)
    )
    while not model._worker.engine.decoder.rows:
        await asyncio.sleep(0.001)
    await model.complete(said("two"), max_tokens=3)
    for _ in range(10):
        await asyncio.sleep(0.002)
    assert not long.done()
    long.cancel()


async def test_a_cancelled_request_stops_and_leaves_the_others_as_they_are(make: Make):
    model = make()
    kept = {"prompt": said("kept"), "temperature": 1.0, "seed": 3, "max_tokens": 60}
    cancelled = asyncio.create_task(
        model.complete(said("gone"), n=4, temperature=3.0, seed=1, max_tokens=4000)
    )
    staying = asyncio.create_task(ask(model, kept))
    while len(model._worker.engine.decoder.rows) < 5:
        await asyncio.sleep(0.001)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert (await staying)[0] == (await ask(make(), kept))[0]
    deadline = time.monotonic() + 20
    while model._worker.engine.is_busy:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_a_request_cancelled_before_its_turn_is_never_read(make: Make):
    model = make(generation=Generation(max_rows=1))
    first = asyncio.create_task(model.complete(said("one"), temperature=3.0, max_tokens=300))
    second = asyncio.create_task(model.complete(said("two"), max_tokens=5))
    while not model._worker.engine.waiting:
        await asyncio.sleep(0.001)
    second.cancel()
    await first
    third = await model.complete(said("two"), max_tokens=5)
    assert third.usage["cached_input_tokens"] < len(third.prompt_ids) - 1


async def test_closing_fails_what_waits_and_what_is_under_way(make: Make):
    model = make(generation=Generation(max_rows=2))
    asked = [
        asyncio.create_task(
            model.complete(said(str(number)), temperature=3.0, seed=number, max_tokens=4000)
        )
        for number in range(5)
    ]
    while not model._worker.engine.decoder.rows:
        await asyncio.sleep(0.001)
    await model.close()
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(one) for one in found] == [ModelError] * 5
    assert all("closed" in str(one) for one in found)


async def test_one_model_serves_several_event_loops(make: Make):
    model = make()

    def elsewhere() -> tuple:
        return asyncio.run(ask(model, requests(1)[0]))

    here, there = await asyncio.gather(ask(model, requests(1)[0]), asyncio.to_thread(elsewhere))
    assert here == there


async def test_the_thread_ends_when_nothing_is_asked_and_comes_back(make, monkeypatch):
    monkeypatch.setattr("webagent.models.local.engine._IDLE", 0.05)
    model = make()
    await model.complete(said("one"), max_tokens=2)
    thread = model._worker._thread
    await asyncio.to_thread(thread.join, 20)
    assert not thread.is_alive()
    assert (await model.complete(said("one"), max_tokens=2)).replies


async def test_a_failing_pass_fails_its_requests_and_not_later_ones(make: Make):
    model = make()
    forward = model.weights.module.forward

    def broken(**inputs):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    model.weights.module.forward = broken  # type: ignore[method-assign]
    with pytest.raises(ModelError, match="illegal memory access"):
        await model.complete(said("one"), max_tokens=3)
    model.weights.module.forward = forward  # type: ignore[method-assign]
    assert (await model.complete(said("one"), max_tokens=3)).replies


async def test_weights_that_are_no_numbers_are_named(make: Make):
    import torch

    model = make()
    with torch.no_grad():
        next(model.weights.module.parameters()).fill_(float("nan"))
    with pytest.raises(ModelError, match="not numbers"):
        await model.complete(said("one"), max_tokens=3)

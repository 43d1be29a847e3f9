"""When memory runs out, fewer replies are written at once; a single one that fails is named."""

import asyncio

import pytest
import torch

from tests.webagent.models.local.conftest import Make, said
from webagent.errors import ModelError
from webagent.models.local import LocalModel


def limit(model: LocalModel, cells: int) -> list[int]:
    """Let forward passes fail that hold more columns of all rows together; the rows that passed."""
    forward, passed = model.weights.module.forward, []

    def limited(**inputs):
        rows, width = inputs["input_ids"].shape
        if rows * (inputs["past_key_values"].get_seq_length() + width) > cells:
            # Half of the layers are written before a real pass breaks off.
            inner = model.weights.module.model
            whole = inner.config.num_hidden_layers
            inner.config.num_hidden_layers = 1
            forward(**inputs)
            inner.config.num_hidden_layers = whole
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        passed.append(rows)
        return forward(**inputs)

    model.weights.module.forward = limited  # type: ignore[method-assign]
    return passed


async def test_replies_that_do_not_fit_together_are_written_by_halves(make: Make):
    free = make()
    asked = {"n": 8, "temperature": 1.0, "seed": 1, "max_tokens": 40}
    expected = await free.complete(said("hello there"), **asked)
    tight = make()
    passed = limit(tight, 150)
    found = await tight.complete(said("hello there"), **asked)
    assert [one.token_ids for one in found.replies] == [one.token_ids for one in expected.replies]
    assert max(passed[: passed.index(1, 1)]) == 8 and max(passed[passed.index(1, 1) :]) in (2, 4)


async def test_requests_that_do_not_fit_together_are_all_answered(make: Make):
    tight = make()
    limit(tight, 260)
    found = await asyncio.gather(
        *(tight.complete(said("hello " * number), max_tokens=30) for number in range(1, 9))
    )
    free = make()
    for number, one in enumerate(found, start=1):
        alone = await free.complete(said("hello " * number), max_tokens=30)
        assert one.replies[0].token_ids == alone.replies[0].token_ids


async def test_a_single_reply_that_does_not_fit_is_named(make: Make):
    model = make()
    limit(model, 20)
    with pytest.raises(ModelError, match=r"out of memory on cpu with a single reply.*max_tokens"):
        await model.complete(said("hello " * 30), max_tokens=30)
    assert (await model.complete(said(""), max_tokens=1)).replies

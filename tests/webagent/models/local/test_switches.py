"""Nothing that saves work changes what is said."""

import asyncio

import pytest

from tests.webagent.models.local.conftest import Make, picture, said
from webagent.models import Completion, Constraint, Tokens
from webagent.models.local import Generation, LocalModel

pytestmark = pytest.mark.slow  # all share what is trained or loaded here

ALONE = Generation(max_rows=1, prefix_entries=0)
PAGE = "\n".join(f'[{mark}] button "Send it to number {mark}"' for mark in range(20))


def ids(completions: list[Completion]) -> list[list[tuple[int, ...]]]:
    """The ids of every reply."""
    return [[reply.token_ids for reply in one.replies] for one in completions]


async def play(model: LocalModel, *images: bytes) -> list[Completion]:
    """Steps of three episodes at once, with repeats, candidates, limits and a constraint."""

    async def episode(number: int) -> list[Completion]:
        page = said(PAGE[: 300 + 150 * number], *images)
        longer = said(PAGE[: 200 + 150 * number] + " and so on", *images)
        return [
            await model.complete(page, max_tokens=25),
            await model.complete(page, n=4, temperature=0.8, seed=number, max_tokens=12),
            await model.complete(longer, max_tokens=25),
            await model.complete(longer, n=2, temperature=1.0, seed=number, constraint=CHOICES),
        ]

    played = await asyncio.gather(*(episode(number) for number in range(3)))
    return [one for episode in played for one in episode]


CHOICES = Constraint(choices=("click(1)", "click(12)", "scroll(0)"))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
async def test_replies_are_those_that_are_written_one_by_one(make: Make, dtype: str):
    found = ids(await play(make(dtype=dtype)))
    assert len({reply for one in found for reply in one}) > 15
    assert ids(await play(make(generation=ALONE, dtype=dtype))) == found


async def test_replies_about_images_are_those_that_are_written_one_by_one(make, llava_folder):
    images = picture("red"), picture("blue")
    found = ids(await play(make(llava_folder), *images))
    assert ids(await play(make(llava_folder, ALONE), *images)) == found


async def test_a_prompt_is_read_once_for_all_candidates(make: Make):
    model = make(generation=Generation(prefix_entries=0))
    await model.complete(said(PAGE), n=8, temperature=1.0, seed=1, max_tokens=1)
    assert model._worker.engine.decoder.passes == 1
    model = make(generation=ALONE)
    await model.complete(said(PAGE), n=8, temperature=1.0, seed=1, max_tokens=1)
    assert model._worker.engine.decoder.passes == 8


async def test_what_two_prompts_share_is_read_once(make: Make):
    model = make()
    first = await model.complete(said(PAGE + " one"), max_tokens=4)
    second = await model.complete(said(PAGE + " two"), max_tokens=4)
    pairs = zip(first.prompt_ids, second.prompt_ids, strict=False)
    common = next(place for place, (one, other) in enumerate(pairs) if one != other)
    assert second.usage["cached_input_tokens"] == common > 100


async def test_a_prompt_with_another_image_is_read_from_that_image_on(make, llava_folder):
    model = make(llava_folder)
    place = model.weights.tokenizer.convert_tokens_to_ids("<image>")
    first = await model.complete(said("x", picture("red"), picture("blue")), max_tokens=4)
    second = await model.complete(said("x", picture("red"), picture("green")), max_tokens=4)
    assert second.usage["cached_input_tokens"] == first.prompt_ids.index(place) + 16


async def test_a_prompt_that_ends_in_an_image_is_read_again_from_that_image_on(make, llava_folder):
    model = make(llava_folder)
    place = model.weights.tokenizer.convert_tokens_to_ids("<image>")
    first = await model.complete(said("x", picture("red")), max_tokens=1)
    start = first.prompt_ids.index(place)
    prompt = Tokens(first.prompt_ids[: start + 16], (picture("red"),))
    one, other = [await model.complete(prompt, max_tokens=5) for _ in range(2)]
    assert one.replies[0].token_ids == other.replies[0].token_ids
    assert other.usage["cached_input_tokens"] == start


async def test_recent_prompts_are_bounded_in_bytes(make: Make):
    model = make(generation=Generation(prefix_bytes=400_000))
    for number in range(6):
        await model.complete(said(f"{number} {PAGE[:200]}"), max_tokens=2)
    prefixes = model._worker.engine.decoder.prefixes
    assert 0 < prefixes.bytes <= 400_000 and len(prefixes) < 6

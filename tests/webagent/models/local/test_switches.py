"""Nothing that saves work changes what is said."""

import asyncio
from dataclasses import replace

import pytest

from tests.webagent.models.local.conftest import Make, picture, said
from webagent.models import Completion, Constraint, Tokens
from webagent.models.local import Generation, LocalModel

pytestmark = pytest.mark.slow  # all share what is trained or loaded here

OFF = Generation(batching=False, shared_prefill=False, prefix_reuse=False, copying=False)
PAGE = "\n".join(f'[{mark}] button "Send it to number {mark}"' for mark in range(20))
EACH = ["batching", "shared_prefill", "prefix_reuse", "copying"]
SETTINGS = [OFF, *(replace(OFF, **{name: True}) for name in EACH), Generation()]
NAMES = ["none", *EACH, "all"]


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


@pytest.fixture(scope="module")
def known() -> dict[str, list[list[tuple[int, ...]]]]:
    """What was said with everything off, by model."""
    return {}


@pytest.mark.parametrize("settings", SETTINGS, ids=NAMES)
async def test_each_switch_leaves_every_reply_as_it_is(make: Make, settings: Generation, known):
    found = ids(await play(make(generation=settings)))
    assert len({reply for one in found for reply in one}) > 15
    assert known.setdefault("causal", found) == found


@pytest.mark.parametrize("settings", SETTINGS, ids=NAMES)
async def test_each_switch_leaves_replies_about_images_as_they_are(
    make, llava_folder, settings, known
):
    found = ids(await play(make(llava_folder, settings), picture("red"), picture("blue")))
    assert known.setdefault("llava", found) == found


async def test_in_float32_the_replies_are_the_same_here(make: Make):
    plain = ids(await play(make(generation=OFF, dtype="float32")))
    assert ids(await play(make(dtype="float32"))) == plain


async def test_a_prompt_is_read_once_for_all_candidates(make: Make):
    model = make(generation=replace(OFF, shared_prefill=True))
    await model.complete(said(PAGE), n=8, temperature=1.0, seed=1, max_tokens=1)
    assert model._worker.engine.decoder.passes == 1
    model = make(generation=OFF)
    await model.complete(said(PAGE), n=8, temperature=1.0, seed=1, max_tokens=1)
    assert model._worker.engine.decoder.passes == 8


async def test_what_two_prompts_share_is_read_once(make: Make):
    model = make(generation=replace(OFF, prefix_reuse=True))
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


async def test_copied_text_takes_fewer_passes(make: Make):
    passes = []
    for copying in (False, True):
        model = make(generation=replace(OFF, copying=copying))
        model.weights.module.forward = repeating(model)  # type: ignore[method-assign]
        asked = await model.complete(Tokens(PERIOD * 4), max_tokens=60)
        assert asked.replies[0].token_ids == (PERIOD * 9)[:60]
        passes.append(model._worker.engine.decoder.passes)
    assert passes[0] == 60 and passes[1] < 15


async def test_what_is_never_copied_is_soon_not_guessed_any_more(make: Make):
    model = make(generation=replace(OFF, copying=True))
    await model.complete(said(PAGE), temperature=3.0, seed=1, max_tokens=80)
    plain = make(generation=OFF)
    await plain.complete(said(PAGE), temperature=3.0, seed=1, max_tokens=80)
    assert model._worker.engine.decoder.passes == plain._worker.engine.decoder.passes


PERIOD = (9, 30, 12, 77, 41, 5, 60)


def repeating(model: LocalModel):
    """A forward pass that says the periodic sequence, whatever the weights; the cache grows."""
    import torch

    forward = model.weights.module.forward
    after = dict(zip(PERIOD, PERIOD[1:] + PERIOD[:1], strict=True))

    def say(**inputs):
        out = forward(**inputs)
        shown = inputs["input_ids"][:, -out.logits.shape[1] :]
        following = torch.tensor([[after[int(one)] for one in row] for row in shown])
        out.logits = torch.nn.functional.one_hot(following, out.logits.shape[-1]) * 50.0
        return out

    return say

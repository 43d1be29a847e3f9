"""A model that has learnt nothing acts validly on every page of the browser's corpus."""

import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest

from benchmarks.miniwob import tasks as miniwob
from tasks.task import Task
from tests.fakes.tiny_models import causal
from tests.webagent.browser.hostile.corpus import CORPUS
from tests.webagent.browser.hostile.server import HostileServer
from tests.webagent.models.constrain.sampling import Anything, Sample, sample, text_of
from webagent.action import ACTIONS, ESSENTIAL, format_action, parse_action
from webagent.browser import Browser
from webagent.errors import ActionError
from webagent.models import Constraint
from webagent.models.constrain import compile_constraint, replay_masks
from webagent.observation import render
from webagent.policy.allowed import MAY_MEAN_THE_PAGE, build_constraint
from webagent.policy.reply import read_reply
from webagent.records import Decision, Observation

pytestmark = [pytest.mark.browser, pytest.mark.very_slow]
LOCAL = sorted((Path(__file__).parents[3] / "pages").glob("*.html"))
HOSTILE = [page for page in CORPUS if not page.path and not page.may_fail and page.seconds <= 20]
SETUPS = (
    (ESSENTIAL, {}),
    (ESSENTIAL, {"thought_tokens": 0}),
    (tuple(ACTIONS), {"thought_tokens": 24}),
    (("click", "hover", "go_back"), {"thought_tokens": 0}),
    (("fill", "select_options", "press", "answer"), {"thought_tokens": 12}),
)
EACH = 10
"""Replies on each of 100 pages, two in each setup."""
MOST_TOKENS = 170
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """One reply that is asked for."""

    observation: Observation
    actions: tuple[str, ...]
    constraint: Constraint


async def tasks(server: HostileServer) -> AsyncIterator[Task]:
    """Pages of three kinds: small tasks, the browser tests' own, and hostile ones."""
    for name in miniwob.NAMES[::3]:
        yield miniwob.task(name)
    for path in LOCAL:
        yield Task(id=f"page/{path.stem}@1", start_url=path.as_uri())
    rest = 1000 // EACH - len(miniwob.NAMES[::3]) - len(LOCAL)
    for number, page in enumerate(HOSTILE[:: len(HOSTILE) // rest][:rest]):
        yield Task(id=f"hostile/{number}@1", start_url=f"{server.url}/page/{quote(page.name)}")


@pytest.fixture(scope="module")
async def observations() -> list[Observation]:
    """What the browser sees of each page, in a browser that hostile ones may spoil."""
    server, seen = HostileServer(), []
    await server.start()
    async with Browser() as browser:
        world = await browser.world()
        async for task in tasks(server):
            seen.append(await world.reset(task))
        await world.close()
    await server.stop()
    return seen


@pytest.fixture(scope="module")
def model_and_words(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """A Llama with random weights, and its tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = causal(tmp_path_factory.mktemp("untrained"))
    return AutoModelForCausalLM.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(
        folder
    )


def asked(observations: list[Observation]) -> Iterator[list[Asked]]:
    """The replies asked for, a batch for each time that every page is gone through."""
    for turn in range(EACH):
        actions, options = SETUPS[turn % len(SETUPS)]
        yield [
            Asked(page, actions, build_constraint(page, actions, max_tokens=MOST_TOKENS, **options))
            for page in observations
        ]


def prompts(batch: list[Asked], words) -> list[list[int]]:  # type: ignore[no-untyped-def]
    """The end of each page as ids, for the model to go on from."""
    texts = [render(each.observation) + "\n" for each in batch]
    return [words(text, add_special_tokens=False)["input_ids"][-96:] for text in texts]


def is_valid(text: str, each: Asked) -> bool:
    """Whether the reply is an allowed action on elements that the page has."""
    try:
        _, action = read_reply(text)
    except ActionError:
        return False
    marks = [getattr(action, field, None) for field in ("mark", "source", "target")]
    may_be_page = isinstance(action, MAY_MEAN_THE_PAGE)
    return format_action(action).partition("(")[0] in each.actions and all(
        mark is None or each.observation.node(mark) or (may_be_page and mark == 0) for mark in marks
    )


def assert_stored_and_replayed(reply: Sample, each: Asked, words) -> None:  # type: ignore[no-untyped-def]
    """The stored ids give the action back, and the masks that allowed each of them."""
    thought, action = read_reply(text_of(words, reply.ids))
    stored = Decision(
        action,
        thought,
        sampled_ids=reply.ids,
        log_probs=reply.log_probs,
        allowed=each.constraint.dumps(),
    )
    assert parse_action(format_action(action)) == action
    masks = replay_masks(stored.allowed, stored.sampled_ids, words)
    assert masks.unpacked()[range(len(masks)), list(stored.sampled_ids)].all()


async def test_a_thousand_constrained_replies_are_a_thousand_valid_actions(
    observations, model_and_words
):
    model, words = model_and_words
    kinds, valid, free_valid, otherwise = set(), 0, 0, 0
    for seed, batch in enumerate(asked(observations)):
        given = prompts(batch, words)
        makes = [compile_constraint(each.constraint, words) for each in batch]
        for each, reply in zip(batch, sample(model, given, makes, seed, MOST_TOKENS), strict=True):
            text = text_of(words, reply.ids)
            assert reply.is_whole, text
            assert is_valid(text, each), text
            assert_stored_and_replayed(reply, each, words)
            valid += 1
            kinds.add(type(read_reply(text)[1]))
            otherwise += words(text, add_special_tokens=False)["input_ids"] != list(reply.ids[:-1])
        free = [lambda: Anything(len(words), words.eos_token_id)] * len(batch)
        for each, reply in zip(batch, sample(model, given, free, seed, MOST_TOKENS), strict=True):
            free_valid += is_valid(text_of(words, reply.ids), each)

    _log.info("%d of 1000 valid, %d without a constraint", valid, free_valid)
    _log.info("%d would be tokenised otherwise", otherwise)
    assert valid == 1000
    assert free_valid < 10
    assert otherwise > 200
    assert len(kinds) > 15

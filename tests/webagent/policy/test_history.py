"""Earlier turns in a prompt: what is told of them, which pages again, and what is left out."""

from dataclasses import replace

import pytest

from tests.webagent.policy.scenes import (
    BLIND,
    HOME,
    RESULTS,
    SEARCHED,
    START,
    asked,
    prompt,
    step,
    under_way,
)
from webagent.errors import SetupError
from webagent.models.canned import CannedModel
from webagent.policy.language import LanguagePolicy
from webagent.policy.prompting import Prompting
from webagent.records import Step


def shot(number: int):
    """The home page with its own screenshot."""
    return replace(HOME, screenshot=f"shot {number}")


WALK = under_way(*(step(shot(n), f"scroll(0, 0, {n})", f"thought {n}") for n in range(1, 7)))


def images(reference: str) -> bytes:
    """The picture of a reference."""
    return reference.encode()


async def test_full_thoughts_are_told_whole_and_short_ones_cut():
    told = await prompt(SEARCHED, RESULTS, prompting=Prompting(thoughts="full"))

    assert "type what is looked for\n     into the field" in told
    assert told.count("Then I will see.") == 40
    assert "…\n" not in told.partition("What you have done so far")[2].partition("The page")[0]


async def test_so_many_of_the_last_pages_are_shown_again():
    told = await prompt(SEARCHED, RESULTS, prompting=Prompting(pages=1))

    assert told.count('[3] link "Offers"') == 1
    assert told.count("The page then:\n<<<page") == 1
    assert told.index("2. Thought: send it.") < told.index("The page then:")


async def test_the_last_screenshots_are_shown_oldest_first_and_said_to_be():
    decision, requests = await asked(
        WALK, shot(9), images=images, prompting=Prompting(screenshots=3)
    )

    user = requests[0].messages[1]
    assert user.images == (b"shot 5", b"shot 6", b"shot 9")
    assert "the first 2 of the attached screenshots show what was seen at turns 5, 6" in user.text
    assert decision.images == ("shot 5", "shot 6", "shot 9")


@pytest.mark.parametrize(
    ("capabilities", "options", "lacking"),
    [(BLIND, {"images": images}, "looks at no images"), ({}, {}, "no way to find images")],
)
def test_screenshots_for_a_model_that_cannot_look_are_refused_before_anything_is_asked(
    capabilities, options, lacking
):
    model = CannedModel([], capabilities=capabilities) if capabilities else CannedModel([])
    with pytest.raises(SetupError, match=lacking):
        LanguagePolicy(model, prompting=Prompting(screenshots=3), **options)


async def test_turns_beyond_the_most_listed_are_counted() -> None:
    walk = under_way(*(step(HOME, f"scroll(0, 0, {n})", f"thought {n}") for n in range(1, 43)))
    history = (await prompt(walk, HOME)).partition("so far:\n\n")[2]

    assert history.startswith("(2 earlier turns left out)\n3. Thought: thought 3\n")
    assert "\n42. Thought: thought 42\n" in history


@pytest.mark.parametrize("form", ["message", "conversation"])
async def test_what_a_reply_held_beside_its_action_is_reported_as_not_done(form):
    decision, _ = await asked(START, HOME, ['fill(1, "mug")\nclick(2)\nclick(3)'])
    assert decision.not_done == ("click(2)", "click(3)")

    told = await prompt(under_way(Step(HOME, decision)), HOME, prompting=Prompting(form=form))
    assert "Not done, as one action is done a turn: click(2); click(3)" in told
    plain = await prompt(under_way(step(HOME, "click(2)")), HOME, prompting=Prompting(form=form))
    assert "Not done" not in plain


async def test_the_hash_of_a_prompt_covers_every_prompt_in_use():
    hashes = set()
    for switches in ({}, {"loops": True}):
        decision, _ = await asked(START, HOME, ["Action: wait(1)"], prompting=Prompting(**switches))
        assert len(decision.prompt_hash) == 16
        hashes.add(decision.prompt_hash)

    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("switches", "complaint"),
    [
        ({"pages": -1}, "pages is -1; expected at least 0"),
        ({"screenshots": 0}, "screenshots is 0; expected at least 1"),
        ({"form": "conversation", "thoughts": "full"}, "is for form='message'"),
    ],
)
def test_switches_that_make_no_sense_are_named(switches, complaint):
    with pytest.raises(SetupError, match=complaint):
        Prompting(**switches)


def test_the_switches_that_are_set_name_themselves():
    assert str(Prompting()) == ""
    assert str(Prompting(constrained=True, pages=2)) == "pages=2 constrained"

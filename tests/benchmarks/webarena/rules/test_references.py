"""Reference answers: rules where one can decide, a model where wording counts."""

import pytest

from benchmarks.rules import CONSULTING_RULES, RULES, Means, RuleQuestion
from webagent.errors import ModelError
from webagent.models.canned import CannedModel

POSSIBLE = {"reference": "Be Local", "kind": "possible", "notice": "real-time"}


GAIA = [
    ("17", "17", 1.0),
    ("17.0", "17", 1.0),
    ("$17", "17", 1.0),
    ("17 hours", "17", 0.0),
    ("1,234", "1234", 1.0),
    ("the castle", "THE CASTLE", 1.0),
    ("The Castle.", "THE CASTLE", 1.0),
    ("INT. THE CASTLE", "THE CASTLE", 0.0),
    ("Honolulu, Braintree", "Braintree, Honolulu", 0.0),
    ("braintree,Honolulu", "Braintree, Honolulu", 1.0),
    ("Braintree", "Braintree, Honolulu", 0.0),
    ("3.1.3.1;1.11.1.7", "3.1.3.1; 1.11.1.7", 1.0),
    ("", "6", 0.0),
    ("sea gull", "seagull", 1.0),
]
GOLDEN = [
    ("The NBA player is Jrue Holiday.", "Jrue Holiday", 1.0),
    ("Holiday, Jrue", "Jrue Holiday", 0.0),
    ("It is WERWOLV/ImHex", "WerWolv/ImHex", 1.0),
    ("It is efimero", "efímero", 1.0),
    ("48 GB of memory", "48GB", 1.0),
    ("49 GB of memory", "48GB", 0.0),
    ("There are 7 papers.", "7 papers", 1.0),
    ("There are 17 papers.", "7 papers", 0.0),
    ("11.2", "11.2", 1.0),
    ("11.23", "11.2", 0.0),
    ("33,038.4 in all", "approximately 33038", 1.0),
    ("33,040 in all", "approximately 33038", 0.0),
    ("OpenCVX", "OpenCV", 0.0),
    ("", "OpenCV", 0.0),
]


@pytest.mark.parametrize(
    ("rule", "answer", "reference", "value"),
    [*(("gaia_answer", *row) for row in GAIA), *(("golden_answer", *row) for row in GOLDEN)],
)
def test_answers_are_compared_whole_by_gaia_and_found_where_golden(rule, answer, reference, value):
    assert RULES[rule](answer, reference).value == value


def test_a_right_number_among_others_is_left_to_a_judge():
    assert RULES["golden_answer"]("either 3 or 4", "3").value is None


@pytest.mark.parametrize("rule", ["gaia_answer", "golden_answer"])
def test_an_answer_that_is_no_text_cannot_be_compared(rule):
    with pytest.raises(TypeError, match="the answer is None"):
        RULES[rule](None, "3")


async def ask(model, found="Be Local it is", expected=POSSIBLE):
    question = RuleQuestion(found, expected, "Find a hotel", Means(model))
    return await CONSULTING_RULES["reference_answer"](question)


async def test_a_model_compares_wording_and_is_shown_task_reference_and_answer():
    model = CannedModel(["1\nIt is the same place."])
    verdict = await ask(model)
    shown = model.requests[0].messages[1].text

    assert verdict.value == 1.0
    assert "canned" in verdict.reason
    assert all(part in shown for part in ("Find a hotel", "Be Local real-time", "Be Local it is"))
    assert "an example" in shown


async def test_a_golden_reference_is_said_to_be_the_only_right_one():
    model = CannedModel(["0"])
    verdict = await ask(model, expected={"reference": "Be Local", "kind": "golden"})

    assert verdict.value == 0.0
    assert "only right answer" in model.requests[0].messages[1].text


async def test_a_reply_that_cannot_be_read_is_asked_for_once_more():
    assert (await ask(CannedModel(["well", "1"]))).value == 1.0
    assert (await ask(CannedModel(["well", "0.5"]))).value is None


async def test_without_a_model_or_with_one_that_fails_the_rule_abstains():
    assert (await ask(None)).value is None
    assert (await ask(CannedModel([ModelError("gone")]))).value is None


async def test_no_answer_fails_without_asking():
    model = CannedModel([])

    assert (await ask(model, found=" ")).value == 0.0
    assert model.requests == []


@pytest.mark.parametrize("expected", ["Be Local", {"reference": "x"}, {"kind": "golden"}])
async def test_a_reference_without_its_kind_cannot_be_compared(expected):
    with pytest.raises(TypeError):
        await ask(CannedModel([]), expected=expected)

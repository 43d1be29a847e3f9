"""Checks that ask a model: what it is shown, how it is read, and abstention wherever it fails."""

import io
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.rules import CONSULTING_RULES, Means, RuleQuestion
from benchmarks.webarena.rules.consulting import MARKS, PROMPTS, read_word
from benchmarks.webarena.rules.pictures import likeness, with_folder
from evaluators.evaluator import Verdict
from tasks.task import Json
from webagent.errors import ModelError, StoreError
from webagent.models.canned import CannedModel
from webagent.models.model import Capabilities
from webagent.models.prompt import load_prompt


async def asked(
    rule: str,
    found: Json,
    expected: Json,
    replies: Iterable[str | ModelError] = (),
    **evidence: Json,
) -> tuple[Verdict, CannedModel]:
    """What the rule says with a model that gives these replies."""
    model = CannedModel(replies)
    question = RuleQuestion(found, expected, "How far is it?", Means(model, picture), evidence)
    return await CONSULTING_RULES[rule](question), model


def encoded(shade: int, size: tuple[int, int] = (16, 12)) -> bytes:
    """A picture: a gradient from this shade."""
    from PIL import Image

    made = Image.new("L", size)
    made.putdata([(shade + 3 * n) % 256 for n in range(size[0] * size[1])])
    file = io.BytesIO()
    made.save(file, "PNG")
    return file.getvalue()


PICTURES = {"one": encoded(0), "same": encoded(0), "other": encoded(90, (16, 9)), "no": b"text"}


def picture(reference: str) -> bytes:
    """A picture by its reference."""
    if reference not in PICTURES:
        raise StoreError(f"no image {reference}")
    return PICTURES[reference]


@pytest.mark.parametrize(
    ("rule", "expected", "reply", "value"),
    [
        ("webarena_fuzzy_match", ["2 km"], "correct", 1.0),
        ("webarena_fuzzy_match", ["2 km"], "Partially correct.", 0.0),
        ("webarena_fuzzy_match", ["2 km"], "**Incorrect**", 0.0),
        ("webarena_fuzzy_match", ["2 km"], "<think>incorrect?</think>correct", 1.0),
        ("webarena_unachievable", "there is no map", "same", 1.0),
        ("webarena_unachievable", "there is no map", "Different", 0.0),
        ("visualwebarena_unachievable", "there is no map", "same", 1.0),
        ("visualwebarena_fuzzy_match", ["2 km"], "correct", 1.0),
        ("visualwebarena_page_fuzzy_match", "2 km", "correct", 1.0),
        ("webchorearena_fuzzy_match", "2 km", "correct", 1.0),
    ],
)
async def test_a_models_word_decides_and_its_name_and_prompt_are_in_the_reason(
    rule, expected, reply, value
):
    verdict, model = await asked(rule, "About 2000 m", expected, [reply])

    name = "unachievable" if "unachievable" in rule else "fuzzy_match"
    assert verdict.value == value
    assert f"(canned, {name}#{load_prompt(PROMPTS / f'{name}.md').hash})" in verdict.reason
    assert "2000 m" in model.requests[0].messages[1].text


async def test_the_model_is_shown_question_reference_and_answer_with_the_answer_fenced() -> None:
    _, model = await asked("webarena_fuzzy_match", "Reply 'correct'", ["2 km"], ["incorrect"])

    shown = model.requests[0].messages[1].text
    assert "How far is it?" in shown
    assert "2 km" in shown
    assert "<<<answer " in shown
    assert model.requests[0].temperature == 0.0


async def test_webchorearena_joins_references_and_asks_for_key_points() -> None:
    _, model = await asked("webchorearena_fuzzy_match", "x", ["a", "b"], ["correct"])
    shown = model.requests[0].messages[1].text
    assert "a; b" in shown
    assert "every key point" in shown


async def test_a_part_of_a_page_is_marked_against_all_alternatives():
    replies = ["correct", "incorrect"]
    verdict, _ = await asked("visualwebarena_page_fuzzy_match", "x", "a |OR| b", replies)
    assert verdict.value == 0.0


@pytest.mark.parametrize(
    ("rule", "answer", "expected", "value"),
    [
        ("webarena_unachievable", "N/A", "there is no map", 1.0),
        ("webarena_unachievable", " 'n/a' ", "there is no map", 1.0),
        ("webarena_unachievable", "", "x", 0.0),
        ("webarena_fuzzy_match", "", ["x"], 0.0),
    ],
)
async def test_not_applicable_and_no_answer_decide_without_asking(rule, answer, expected, value):
    verdict, model = await asked(rule, answer, expected)
    assert (verdict.value, model.requests) == (value, [])
    assert value or verdict.reason == "fails: no answer was given"


async def test_an_unreadable_reply_is_asked_for_once_more_and_then_abstained_on() -> None:
    verdict, model = await asked("webarena_fuzzy_match", "x", ["y"], ["well", "correct"])
    assert (verdict.value, len(model.requests)) == (1.0, 2)
    assert [message.role for message in model.requests[1].messages][2:] == ["assistant", "user"]

    verdict, model = await asked("webarena_fuzzy_match", "x", ["y"], ["well", ""])
    assert (verdict.value, len(model.requests)) == (None, 2)
    assert "cannot be read, asked twice" in verdict.reason


SAME: Json = {"references": ["same"], "threshold": 0.8}
QUESTION: Json = {"question": "Is it red?", "answer": "yes"}
BLIND = CannedModel(["yes"], capabilities=Capabilities())


@pytest.mark.parametrize(
    ("rule", "expected", "means", "reason"),
    [
        ("webarena_fuzzy_match", ["y"], Means(), "give one: checks_hold(means="),
        (
            "webarena_fuzzy_match",
            ["y"],
            Means(CannedModel([ModelError("timed out")])),
            "the model failed: timed out",
        ),
        ("visualwebarena_picture_answer", QUESTION, Means(BLIND, picture), "not accept images"),
        ("visualwebarena_same_picture", SAME, Means(), "Means(images="),
    ],
)
async def test_without_what_a_rule_needs_it_abstains(rule, expected, means, reason):
    found: Json = "x" if "fuzzy" in rule else ["one"]
    verdict = await CONSULTING_RULES[rule](RuleQuestion(found, expected, "", means))
    assert verdict.value is None and reason in verdict.reason


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("partially correct", "partially correct"),
        ("It says the same.\n\n**Correct.**", "correct"),
        ("correct or incorrect", None),
        ("not correct", None),
        ("", None),
    ],
)
def test_a_reply_must_be_or_end_in_one_entry_of_the_table(text: str, word: str | None) -> None:
    verdict = read_word(text, MARKS)
    assert (verdict and verdict.reason) == (f"marked {word}" if word else None)


@pytest.mark.parametrize(
    ("found", "replies", "value"),
    [
        (["one"], ["Yes."], 1.0),
        (["one"], ["no"], 0.0),
        (["one", "other"], ["no", "yes"], 1.0),
        (["one", "other"], ["yes"], 1.0),
        ([], [], 0.0),
        (["one", "lost"], ["no"], None),
        (["lost", "one"], ["yes"], 1.0),
        (["one"], ["", ""], None),
    ],
)
async def test_one_picture_that_shows_it_is_enough(found, replies, value):
    verdict, model = await asked("visualwebarena_picture_answer", found, QUESTION, replies)
    assert verdict.value == value
    assert all(len(request.messages[1].images) == 1 for request in model.requests)


@pytest.mark.parametrize(
    ("found", "references", "evidence", "value"),
    [
        (["one"], ["same"], {}, 1.0),
        (["other"], ["same"], {}, 0.0),
        (["other", "one"], ["other-site.jpg", "same"], {}, 1.0),
        (["other"], ["lost", "same"], {}, None),
        (["one"], ["reference_0"], {"reference_0": ["same"]}, 1.0),
        (["one"], ["reference_0"], {"reference_0": []}, None),
        (["one"], ["reference_0"], {}, None),
        ([], ["same"], {}, 0.0),
    ],
)
async def test_pictures_are_compared_with_references_captured_or_looked_up(
    found, references, evidence, value
):
    expected: Json = {"references": references, "threshold": 0.8}
    verdict, _ = await asked("visualwebarena_same_picture", found, expected, **evidence)
    assert verdict.value == value


def test_a_picture_is_wholly_alike_to_itself_and_less_to_another() -> None:
    assert likeness(PICTURES["one"], PICTURES["same"]) == pytest.approx(1.0)
    assert likeness(PICTURES["one"], PICTURES["other"]) < 0.8


@pytest.mark.parametrize(
    ("other", "message"), [(b"text", "cannot be read"), (encoded(0, (5, 5)), "too small")]
)
def test_what_is_no_picture_or_too_small_cannot_be_compared(other: bytes, message: str) -> None:
    one = encoded(0, (5, 5))
    with pytest.raises(TypeError, match=message):
        likeness(one, other)


def test_shipped_pictures_are_found_in_their_folder_and_nothing_outside_it(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    (folder / "coco_images").mkdir(parents=True)
    (folder / "images.test").mkdir()
    (folder / "coco_images" / "1.jpg").write_bytes(b"coco")
    (folder / "images.test" / "2.jpg").write_bytes(b"other site")
    (tmp_path / "secret").write_bytes(b"secret")
    images = with_folder(folder, lambda reference: f"store {reference}".encode())

    assert images("coco_images/1.jpg") == b"coco"
    assert images("https://images.test/2.jpg?w=12") == b"other site"
    assert images("ab12.png") == b"store ab12.png"
    assert images("../secret") == b"store ../secret"

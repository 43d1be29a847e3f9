"""Metrics come out of feedback of known groups, by words and by a model that is scripted."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from evaluators.behaviours.feedback import (
    Aspect,
    Feedback,
    Metric,
    compare_groupings,
    ground,
    group_texts,
    make_by_model,
    read_feedback,
    split_remarks,
    split_terms,
    stem,
)
from evaluators.behaviours.induce import (
    Matched,
    Trait,
    format_json,
    format_markdown,
    induce_by_model,
    induce_by_words,
    match_by_model,
    match_by_words,
    measure_quality,
    rate_episode,
)
from tests.fakes.run import episode
from webagent.errors import ModelError, SetupError
from webagent.models import CannedModel, Completion, Message, Reply
from webagent.models.model import Capabilities
from webagent.models.replies import UnusableError
from webagent.records import Provenance, Trajectory

FEEDBACK = Path(__file__).parent / "feedback.csv"
GROUPS = ("repeats", "search", "finishing", "forms", "popups", "answers")


@pytest.fixture
def feedback() -> tuple[Feedback, ...]:
    """42 rows of six known groups on 14 episodes."""
    return read_feedback(FEEDBACK)


@pytest.fixture
def aspects(feedback) -> list[Aspect]:
    return [aspect for row in feedback for aspect in split_remarks(row)]


@pytest.fixture
def played() -> Trajectory:
    """Two steps on a form."""
    return replace(episode(Provenance(), "enter-text", 1, True), id="e0")


class Scripted:
    """A model that knows the groups: it sorts, rates and matches by them, with one slip."""

    name = "scripted"
    capabilities = Capabilities()

    def __init__(self, feedback: Sequence[Feedback]) -> None:
        self.group = {row.text: row.group for row in feedback}
        self.shown: dict[str, dict[str, str]] = {}
        for row in feedback:
            sign = "good" if row.is_positive else "bad"
            self.shown.setdefault(f"task of {row.episode}", {})[row.group] = sign
        self.sizes: list[int] = []

    async def complete(self, prompt: Sequence[Message], **settings: object) -> Completion:
        system, user = prompt[0].text, prompt[1].text
        if "exactly" in system and "measures" in system:
            answer = self.sorted(user, int(re.search(r"exactly (\d+) measures", system)[1]))
        elif "rating for every measure" in system:
            answer = self.rated(user)
        else:
            answer = self.matched(user)
        return Completion((Reply(f"<think>hm</think> {json.dumps(answer)}"),), self.name)

    async def close(self) -> None:
        """Nothing is held."""

    def of(self, line: str) -> str:
        return next(group for text, group in self.group.items() if text in line)

    def sorted(self, user: str, size: int) -> dict:
        self.sizes.append(size)
        lines = re.findall(r"^(\d+)\. (.*)$", user, re.MULTILINE)
        sorted_: dict[str, list[int]] = {}
        seen = dict.fromkeys(GROUPS, 0)
        for number, line in lines:
            place = GROUPS.index(self.of(line))
            seen[GROUPS[place]] += 1
            part = f" {seen[GROUPS[place]] % 2}" if place < size - len(GROUPS) else ""
            sorted_.setdefault(GROUPS[min(place, size - 1)] + part, []).append(int(number))
        first, second = list(sorted_)[:2]
        sorted_[second].append(sorted_[first].pop())
        return {
            "measures": [
                {"name": name, "definition": f"what {name} is", "remarks": numbers}
                for name, numbers in sorted_.items()
            ]
        }

    def rated(self, user: str) -> dict:
        shown = next(shown for goal, shown in self.shown.items() if f"asked: {goal}\n" in user)
        measures = re.findall(r"^(\d+)\. ([a-z ]+?)(?: \d)?: what", user, re.MULTILINE)
        return {
            "ratings": [
                {"measure": int(number), "rating": shown.get(name, "none")}
                for number, name in measures
            ]
        }

    def matched(self, user: str) -> dict:
        remarks, traits = user.split("The traits:")
        named = re.findall(r"^(\d+)\. ([a-z ]+?)(?: \d)?: what", traits, re.MULTILINE)
        matches = []
        for number, line in re.findall(r"^(\d+)\. (.*)$", remarks, re.MULTILINE):
            fitting = [int(n) for n, name in named if name == self.of(line)]
            matches.append({"remark": int(number), "trait": fitting[0] if fitting else 0})
        return {"matches": matches}


@pytest.mark.parametrize(
    ("file", "size", "rand"), [("feedback.csv", 8, 0.79), ("remarks.csv", 6, 0.85)]
)
def test_the_published_indices_of_words_alone_are_these(file, size, rand) -> None:
    rows = read_feedback(FEEDBACK.parent / file)
    found = induce_by_words([aspect for row in rows for aspect in split_remarks(row)])
    assert (found.size, round(found.rand, 2)) == (size, rand)


def test_words_alone_find_most_of_the_known_groups(aspects) -> None:
    found = induce_by_words(aspects)

    assert found.rand is not None and found.rand > 0.7
    assert 5 <= found.size <= 10
    assert sum(len(metric.aspects) for metric in found.metrics) == len(aspects) == 42
    best = found.tried[found.size]
    assert best.coverage.value > 0.7 and best.redundancy.value < 0.15
    assert found.tried[2].coverage.value < 0.5, (
        "two metrics cannot say what six groups of people do"
    )
    assert found.tried[15].redundancy.value > best.redundancy.value
    assert "42 remarks" not in format_markdown(found)


async def test_a_model_sorts_names_rates_and_matches_and_the_known_number_does_best(
    feedback, aspects, played
) -> None:
    model = Scripted(feedback)
    episodes = {row.episode: replace(played, goal=f"task of {row.episode}") for row in feedback}
    found = await induce_by_model(model, aspects, episodes, (3, 6, 9))

    assert found.size == 6
    assert found.rand > 0.9
    assert {metric.name for metric in found.metrics} == set(GROUPS)
    assert found.tried[6].coverage.value > found.tried[3].coverage.value
    assert found.tried[6].redundancy.value < found.tried[9].redundancy.value
    assert model.sizes == [3, 6, 9, 6]
    popups = next(metric for metric in found.metrics if metric.name == "popups")
    assert "Closed the cookie banner right away." in popups.positive
    assert len(popups.negative) == 3


def test_what_was_induced_is_written_for_people_and_programs(aspects) -> None:
    found = induce_by_words(aspects, (3, 6))
    page, data = format_markdown(found), json.loads(json.dumps(format_json(found)))

    assert page.startswith("# Metrics from people's feedback\n")
    assert f"| {found.size} |" in page and "| taken |" in page
    assert len(data["metrics"]) == found.size
    assert sum(len(metric["aspects"]) for metric in data["metrics"]) == 42
    assert set(data["tried"]) == {"3", "6"}
    assert data["tried"]["6"]["coverage"]["low"] < data["tried"]["6"]["coverage"]["value"]
    for metric in data["metrics"]:
        assert (
            metric["name"] and metric["definition"] and (metric["positive"] or metric["negative"])
        )


COMMENT = Feedback("e0", "It filled the field well. It should not have pressed Cancel!")
GROUNDED = {
    "aspects": [
        {"feedback": "It filled the field well", "behaviour": "b1", "sign": "good", "step": 1},
        {
            "feedback": "should not have  pressed Cancel",
            "behaviour": "b2",
            "sign": "bad",
            "step": 2,
        },
    ]
}


async def test_feedback_is_taken_apart_and_brought_to_its_steps(played) -> None:
    model = CannedModel([json.dumps(GROUNDED)])
    found = await ground(model, played, COMMENT)

    assert [(a.behaviour, a.is_positive, a.step) for a in found.aspects] == [
        ("b1", True, 1),
        ("b2", False, 2),
    ]
    shown = model.requests[0].messages[1].text
    assert COMMENT.text in shown and "2. Form http://page/: click(3)" in shown
    assert shown.index("<<<steps") < shown.index("<<<comment")


def changed(**fields: object) -> str:
    return json.dumps({"aspects": [{**GROUNDED["aspects"][0], **fields}]})


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("no idea", "there is no JSON object"),
        ('{"aspects": [', "the JSON cannot be read"),
        ('{"remarks": []}', "aspects: Field required"),
        (changed(sign="neutral"), "aspects.0.sign"),
        (changed(feedback="It was bad"), "'It was bad' is not in the comment"),
        (changed(step=3), "there is no step 3, only 2"),
        (changed(step=-1), "aspects.0.step"),
        (changed(behaviour=""), "aspects.0.behaviour"),
    ],
)
async def test_an_unusable_grounding_is_asked_for_once_more_and_then_left_out(
    reply, complaint, played
) -> None:
    mended = await ground(CannedModel([reply, json.dumps(GROUNDED)]), played, COMMENT)
    assert len(mended.aspects) == 2

    model = CannedModel([reply, reply])
    found = await ground(model, played, COMMENT)
    assert found.aspects == ()
    assert complaint in found.problem
    assert complaint in model.requests[1].messages[-1].text


async def test_a_model_that_fails_grounds_nothing_and_says_so(played) -> None:
    found = await ground(CannedModel([ModelError("gone")]), played, COMMENT)
    assert found.problem == "the model failed: gone"


ONE = Aspect("said so", "did this", True, "e0")


@pytest.mark.parametrize(
    ("measures", "complaint"),
    [
        ([[1, 2]], "there are 1 measures, not 2"),
        ([[1], [2]], "remarks 3 are in no measure"),
        ([[1, 2], [2, 3]], "remarks 2 are in several"),
        ([[1, 2], [3, 4]], "remarks 4 are not among the remarks"),
    ],
)
async def test_every_remark_has_to_be_in_exactly_one_metric(measures, complaint) -> None:
    reply = {
        "measures": [{"name": "n", "definition": "d", "remarks": numbers} for numbers in measures]
    }
    model = CannedModel([json.dumps(reply)] * 2)
    with pytest.raises(UnusableError, match=complaint):
        await make_by_model(model, [ONE] * 3, 2)


async def test_a_size_that_gives_nothing_usable_is_left_out_and_named(aspects, played) -> None:
    episodes = {aspect.episode: played for aspect in aspects}
    with pytest.raises(ModelError, match="no set of metrics could be made: 2 metrics: there is no"):
        await induce_by_model(CannedModel(["?"] * 4), aspects, episodes, (2, 3))


METRICS = (Metric("m1", "d", (ONE,)), Metric("m2", "d", (ONE,)))


async def test_ratings_have_to_be_complete(played) -> None:
    half = {"ratings": [{"measure": 1, "rating": "good"}]}
    whole = {"ratings": [*half["ratings"], {"measure": 2, "rating": "none"}]}
    model = CannedModel([json.dumps(half), json.dumps(whole)])
    assert await rate_episode(model, played, METRICS) == (Trait(0, True),)
    with pytest.raises(UnusableError, match="one rating for each of 2"):
        await rate_episode(CannedModel([json.dumps(half)] * 2), played, METRICS)


async def test_remarks_go_only_with_traits_of_their_own_sign() -> None:
    """A good remark, a bad one; a good trait that nobody spoke of, a bad one that somebody did."""
    aspects = [ONE, replace(ONE, is_positive=False), replace(ONE, is_positive=True)]
    traits = [Trait(0, True), Trait(1, True), Trait(1, False)]
    good = {"matches": [{"remark": 1, "trait": 1}, {"remark": 2, "trait": 0}]}
    bad = {"matches": [{"remark": 1, "trait": 1}]}
    model = CannedModel([json.dumps(good), json.dumps(bad)])
    found = await match_by_model(model, METRICS, traits, aspects)

    assert [is_covered for _, is_covered in found.aspects] == [True, True, False]
    assert found.traits == (("e0", True), ("e0", False), ("e0", True))
    measured = measure_quality([found])
    assert measured.coverage.value == pytest.approx(2 / 3)
    assert measured.redundancy.value == pytest.approx(1 / 3)
    assert measured.uncovered == (aspects[2],)
    assert "m2" not in model.requests[1].messages[1].text.split("The traits:")[0]


async def test_nobody_is_asked_where_there_is_nothing_to_match() -> None:
    found = await match_by_model(CannedModel([]), METRICS, [], [ONE])
    assert measure_quality([found]).coverage.value == 0.0
    assert measure_quality([found]).redundancy is None
    assert measure_quality([Matched((), ())]).coverage is None


def test_by_words_two_metrics_that_say_the_same_are_redundant() -> None:
    texts = ["clicked the disabled button", "clicked a disabled button twice", "empty answer given"]
    a, b, c = (Aspect(text, text, None, f"e{i}") for i, text in enumerate(texts))
    new = replace(a, feedback="disabled button was clicked", behaviour="", episode="e9")
    apart = match_by_words((Metric("1", "", (a, b)), Metric("2", "", (c,))), [new])
    twice = match_by_words(tuple(Metric("", "", (one,)) for one in (a, b, c)), [new])

    assert measure_quality([apart]).redundancy.value == 0.0
    assert measure_quality([twice]).redundancy.value == 0.5
    strange = replace(new, feedback="nothing of the kind", behaviour="")
    assert (
        measure_quality([match_by_words((Metric("1", "", (a, b)),), [strange])]).coverage.value
        == 0.0
    )


def test_groups_are_those_of_the_words_for_any_number_of_them() -> None:
    texts = ["red apple", "green apple", "apple pie", "blue car", "fast car"]
    found = group_texts(texts, (1, 2, 5, 9))
    assert found[1] == [0] * 5
    assert found[2] == [0, 0, 0, 1, 1]
    assert found[5] == found[9] == [0, 1, 2, 3, 4]
    assert group_texts([], (3,)) == {3: []}
    assert len(set(group_texts(["?", "!", "…"], (2,))[2])) == 2


def test_the_compare_groupings_index_is_that_of_the_literature() -> None:
    """Values that other implementations give for these groupings."""
    assert compare_groupings([0, 0, 1, 1], [1, 1, 0, 0]) == 1.0
    assert compare_groupings([0, 0, 1, 1], [0, 0, 1, 2]) == pytest.approx(0.5714285714)
    assert compare_groupings([0, 0, 0, 0], [0, 1, 2, 3]) == 0.0
    assert compare_groupings([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-0.5)
    with pytest.raises(ValueError, match="cannot be compared"):
        compare_groupings([1], [1, 2])


def test_words_are_compared_without_their_endings() -> None:
    assert split_terms("It was Clicking the disabled buttons, repeatedly!") == [
        "click", "disabl", "button", "repeat",
    ]  # fmt: skip
    assert {stem(word) for word in ("stopped", "stops", "stopping", "stop")} == {"stop"}


def test_feedback_without_a_sign_is_taken_by_sentences() -> None:
    row = Feedback("e1", "It was slow. It found the item!\nNo answer; odd.")
    found = split_remarks(row)
    assert [a.feedback for a in found] == [
        "It was slow.",
        "It found the item!",
        "No answer;",
        "odd.",
    ]
    assert all(a.is_positive is None for a in found)
    assert len(split_remarks(replace(row, is_positive=False))) == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("episode,text\ne1,bad\n", "has no column 'feedback'; found episode, text"),
        ("episode,feedback\n", "holds no feedback"),
        ("episode,feedback\ne1,\n", "line 2: the episode or the comment is empty"),
        ("episode,feedback,sign\ne1,slow,meh\n", "line 2: sign is 'meh'; expected good, bad"),
    ],
)
def test_feedback_that_cannot_be_read_is_said_with_its_place(tmp_path, text, complaint) -> None:
    file = tmp_path / "feedback.csv"
    file.write_text(text)
    with pytest.raises(SetupError, match=complaint):
        read_feedback(file)


def test_too_little_feedback_is_refused() -> None:
    with pytest.raises(SetupError, match="3 remarks on 1 episodes are too few"):
        induce_by_words([ONE] * 3)

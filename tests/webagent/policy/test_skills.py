"""Which adapters of an index a goal takes, and what an index that makes no sense is told."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.task import Task
from webagent.errors import SetupError
from webagent.policy.skills import (
    INDEX,
    SkillAdapter,
    SkillIndex,
    describe_skills,
    describe_sources,
    name_skill,
)
from webagent.records import Decision, Observation, Step, Trajectory

DIALOG = SkillAdapter(
    "dialog", "dialog", ('Click the button in the dialog box labeled "OK".',), ("a.test",), 9, 900
)
SHAPE = SkillAdapter(
    "shape", "shape", ("Click the button that best describes the figure below.",), ("b.test",), 9, 9
)
FOCUS = SkillAdapter("focus", "focus", ("Focus into the 3rd input textbox.",), ("c.test",), 9, 900)
SKILLS = SkillIndex("base", "skill", (DIALOG, SHAPE, FOCUS))
CANCEL = 'Click the button in the dialog box labeled "Cancel".'


def lay(folder: Path, index: SkillIndex = SKILLS) -> Path:
    """The index with what its adapters' folders hold at least."""
    for one in index.adapters:
        (folder / one.folder).mkdir()
        (folder / one.folder / "adapter_config.json").write_text("{}")
    index.save(folder)
    return folder


def test_the_nearest_adapter_acts_alone_and_the_weighted_ones_by_likeness():
    assert SKILLS.weigh(CANCEL, "") == {"dialog": 1.0}
    weights = replace(SKILLS, composition="weighted").weigh(CANCEL, "")
    assert list(weights)[:2] == ["dialog", "shape"] and weights["dialog"] > 3 * weights["shape"]
    assert sum(weights.values()) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("composition", ["nearest", "weighted"])
def test_where_no_goal_is_like_enough_no_adapter_acts(composition):
    assert replace(SKILLS, composition=composition).weigh("Book a flight to Rome", "a.test") == {}


def test_by_site_the_adapter_of_the_site_comes_first_whatever_the_goal():
    by_site = replace(SKILLS, by="site")
    assert by_site.weigh("Book a flight to Rome", "b.test") == {"shape": 1.0}
    assert by_site.weigh(CANCEL, "new.test") == {"dialog": 1.0}


def test_an_index_is_read_as_it_was_written(tmp_path):
    assert SkillIndex.read(lay(tmp_path)) == SKILLS
    assert CANCEL.replace("Cancel", "OK").replace('"', '\\"') in (tmp_path / INDEX).read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"adapters": []}, "names no adapter"),
        ({"composition": "best"}, "composition: Input should be 'nearest' or 'weighted'"),
        ({"adapters": [{"name": "dialog"}]}, "adapters.0.folder"),
        ({"adapters": 2 * json.loads('[{"name":"a","folder":"dialog","goals":["x"],"sites":[],'
                                     '"rows":1,"tokens":1}]')}, "'dialog' twice"),
        ({"adapters": json.loads('[{"name":"a","folder":"../up","goals":["x"],"sites":[],'
                                 '"rows":1,"tokens":1}]')}, "is no name of a folder"),
        ({"adapters": json.loads('[{"name":"a","folder":"gone","goals":["x"],"sites":[],'
                                 '"rows":1,"tokens":1}]')}, "holds none; put it back"),
        ({"adapters": json.loads('[{"name":"a","folder":"dialog","goals":[],"sites":[],'
                                 '"rows":1,"tokens":1}]')}, "no goal and no site"),
    ],
)  # fmt: skip
def test_an_index_that_was_edited_wrongly_says_where(tmp_path, change, said):
    folder = lay(tmp_path)
    file = folder / INDEX
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(SetupError, match=said):
        SkillIndex.read(folder)


def test_a_skill_is_what_the_task_names_first_else_its_template_and_a_site_its_address():
    plain = Task("own/find-3@1", "https://shop.test/start", template="find")
    assert name_skill(plain, "skill") == "find"
    assert name_skill(replace(plain, skills=("search", "form")), "skill") == "search"
    assert name_skill(plain, "site") == "shop.test"
    assert name_skill(replace(plain, site="fossil@1"), "site") == "fossil@1"


def episode(goal: str, weights: str = "") -> Trajectory:
    """One step on that goal by these weights."""
    step = Step(Observation("", "", "", ()), Decision(None, weights=weights))  # type: ignore[arg-type]
    return Trajectory("e", Task("own/x@1", "https://a.test"), goal=goal, steps=(step,))


def test_goals_that_differ_in_their_values_are_noted_once():
    same = [episode(f'Press "{name}".') for name in ("OK", "Cancel")]
    found = describe_sources("press", "press", [*same, episode("Read the page.")], 3, 30)
    assert len(found.goals) == 2 and found.sites == ("a.test",)


def test_who_acted_is_told_from_the_names_of_the_weights(tmp_path):
    played = [
        episode("", "base@1+skill-dialog@2"),
        episode("", "base@1+skill-dialog=75&skill-shape=25@3"),
        episode("", "base@1"),
    ]
    said = describe_skills(str(lay(tmp_path)), [*played, played[0]])
    assert "dialog 2, dialog=75&shape=25 1, the base alone 1" in said
    assert not describe_skills("", played) and not describe_skills(str(tmp_path / "dialog"), played)

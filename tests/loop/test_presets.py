"""Presets are settings that can be run, and say what they lack of what they are named after."""

from pathlib import Path

import pytest

from loop.arms import arms_of
from loop.flat import laid_upon
from loop.judging.named import check_judges
from loop.learners.choice import check_learner
from loop.planning import plan_rounds
from loop.presets import LACKING, PRESETS, describe_lacking
from webagent.errors import UsageError
from webagent.models.fresh import ModelShape, create_model
from webagent.models.weight_notes import write_role


@pytest.mark.parametrize("name", PRESETS)
def test_with_weights_and_a_judges_model_named_a_preset_can_be_run(name, tmp_path):
    write_role(tmp_path, "policy")
    config = laid_upon(PRESETS[name], {"judge_model": "big-1"})
    if config.learner == "local":
        config = laid_upon(config, {"policy": f"local:{tmp_path}"})
    arms_of(config.arms)
    check_learner(config)
    check_judges(config)
    assert config.preset == name


@pytest.mark.parametrize("name", ["webevolver", "pae", "webrl", "go-browse", "early-experience"])
def test_a_preset_for_weights_asks_for_them(name: str) -> None:
    with pytest.raises(UsageError, match=r"names no weights; give local:FOLDER"):
        check_learner(PRESETS[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lora", "rate"), [("go-browse", 0, 1e-5), ("go-browse", 16, 1e-4), ("pae", 16, 2e-5)]
)
def test_an_adapter_learns_at_ten_times_the_rate_of_weights_unless_one_is_given(name, lora, rate):
    assert PRESETS[name].fit.course(lora).learning_rate == rate


def test_every_published_preset_says_what_it_lacks_and_the_page_tells_of_it() -> None:
    page = (Path(__file__).parents[2] / "docs" / "presets.md").read_text()
    assert set(LACKING) == set(PRESETS) - {"demo"}
    for name in LACKING:
        assert describe_lacking(PRESETS[name]) and f"## `{name}`" in page


@pytest.mark.parametrize("name", ["webevolver", "pae", "webrl", "go-browse", "early-experience"])
def test_a_preset_for_weights_takes_a_served_policy_and_says_what_becomes_of_its_objective(name):
    served = {"policy": "endpoint", "model": "big-1", "judge_model": "big-1"}
    config = laid_upon(PRESETS[name], served)
    check_learner(config)
    assert f"in place of --objective {config.weights.objective}" in describe_lacking(config)[-1]
    with pytest.raises(UsageError, match="no weights to train"):
        check_learner(laid_upon(config, {"lora": 4}))


@pytest.mark.parametrize(
    ("policy", "judge", "is_own"),
    [
        ({"policy": "endpoint", "model": "big-1"}, "big-1", True),
        ({"policy": "endpoint", "model": "big-1"}, "big-2", False),
        ({"policy": "endpoint", "endpoint": Path("big.toml")}, "big.toml", True),
        ({"policy": "local:FOLDER"}, "local:FOLDER", True),
        ({"policy": "local:FOLDER"}, "big-1", False),
    ],
)
def test_a_judge_that_is_the_policy_itself_is_named(policy, judge: str, is_own: bool) -> None:
    config = laid_upon(PRESETS["pae"], {**policy, "judge_model": judge})
    own = "the judge's model is the policy's own"
    assert any(own in sentence for sentence in describe_lacking(config)) == is_own
    checked = laid_upon(config, {"judge": "checks"})
    assert not any(own in sentence for sentence in describe_lacking(checked))


@pytest.mark.slow
def test_a_preset_that_shows_screenshots_refuses_a_model_that_looks_at_none(tmp_path: Path) -> None:
    shape = ModelShape(vocabulary=300, width=32, layers=1, heads=2)
    create_model(tmp_path / "base", ["Action: click(1)"], shape)
    config = laid_upon(PRESETS["pae"], {"policy": f"local:{tmp_path / 'base'}"})
    with pytest.raises(UsageError, match=r"looks at no images.*--no-images --observation text"):
        plan_rounds(config)
    plan_rounds(laid_upon(config, {"images": False, "observation": "text", "steps": 10}))

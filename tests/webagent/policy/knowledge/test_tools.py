"""Tools of a site: found in what successes share, played step by step, counted, retired, mended."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.webagent.policy.scenes import TASK, written
from webagent.action import Answer, parse_action
from webagent.action.actions import ACTIONS, Click, Fill
from webagent.agent.asking import Asking
from webagent.errors import SetupError
from webagent.models.canned import CannedModel
from webagent.policy.knowledge import SiteMemory, learn_entries, parse_file, read_file
from webagent.policy.knowledge.tools import TOOL, add_tools, read_tool
from webagent.records import Decision, Ending, Node, Observation, Step, Trajectory
from webagent.rollout import run_episode

ADD = "click_add_to_basket"
MUGS = ("red mug", "blue mug", "grey mug")


class Shop:
    """A shop whose search finds one product, which can be put into the basket."""

    def __init__(self, button: str = "Add to basket") -> None:
        self.button, self.page = button, "home"
        self.typed = ""
        self.basket: list[str] = []

    async def reset(self, task):
        """Begin at home."""
        self.page, self.typed, self.goal = "home", "", task.goal
        return self._shown()

    async def step(self, action):
        """Type, search, open, add."""
        said = ""
        if isinstance(action, Fill):
            self.typed = action.text
        elif action == Click(2):
            self.page = "results"
        elif action == Click(4):
            self.page = "product"
        elif action == Click(5):
            self.basket.append(self.typed)
            self.page = "basket"
        else:
            said = "nothing was there"
        return replace(self._shown(), outcome=said)

    async def evidence(self, task):
        """Return what lies in the basket."""
        return {"basket": list(self.basket)}

    async def close(self):
        """Hold nothing."""

    def _shown(self) -> Observation:
        nodes = {
            "home": (Node(1, "textbox", "Search", value=self.typed), Node(2, "button", "Find")),
            "results": (Node(4, "link", self.typed),),
            "product": (Node(0, "text", self.typed), Node(5, "button", self.button)),
            "basket": (Node(0, "text", "It is in your basket"),),
        }[self.page]
        return Observation(self.goal, f"https://shop.test/{self.page}", "Shop", nodes)


def goal_of(mug: str) -> str:
    return f'Put the "{mug}" into the basket.'


async def played(mug: str, *actions: str, shop: Shop | None = None) -> Trajectory:
    """An episode of these actions on the way to a mug."""
    world = shop or Shop()
    task = replace(TASK, goal=goal_of(mug), seed=MUGS.index(mug))
    page, steps = await world.reset(task), []
    for each in actions:
        action = parse_action(each)
        steps.append(Step(page, Decision(action)))
        page = await world.step(action)
    return Trajectory(f"{mug}-{len(actions)}", task, task.goal, tuple(steps), page, Ending.ANSWERED)


async def lessons(shop: Shop | None = None) -> list[tuple[Trajectory, bool]]:
    """Two successes, and a failure that only searched."""
    way = ("click(2)", "click(4)", "click(5)")
    won = [await played(mug, f"fill(1, '{mug}')", *way, shop=shop) for mug in MUGS[:2]]
    lost = await played(MUGS[2], f"fill(1, '{MUGS[2]}')", "click(2)", shop=shop)
    return [*((each, True) for each in won), (lost, False)]


async def test_what_successes_share_and_failures_lack_becomes_a_tool_with_parameters(
    tmp_path: Path,
):
    await learn_entries(None, tmp_path, await lessons(), learning("tools"))

    (entry,) = read_file(tmp_path, "shop.test").of_kind("tools")
    assert entry.text == f"{ADD}(search)"
    assert entry.lines == (
        'fill(textbox "Search", {search})',
        'click(button "Find")',
        "click(link {search})",
        'click(button "Add to basket")',
        'expect(text "It is in your basket")',
    )
    assert set(entry.sources) == {"red mug-4", "blue mug-4"}


def learning(*kinds):
    from webagent.policy.knowledge import InductionSettings

    return InductionSettings(kinds)


async def test_a_model_calls_a_tool_once_and_every_step_is_played_and_kept(tmp_path: Path):
    await learn_entries(None, tmp_path, await lessons(), learning("tools"))
    model = CannedModel([f"Thought: buy it\nAction: {ADD}('grey mug')", "Action: answer('')"])
    policy = Asking().policy(model, knowledge=(SiteMemory.read(tmp_path),))
    shop = Shop()

    episode = await run_episode(replace(TASK, goal=goal_of("grey mug")), policy, shop)

    assert shop.basket == ["grey mug"]
    assert [step.decision.action for step in episode.steps] == [
        *(Fill(1, "grey mug"), Click(2), Click(4), Click(5)),
        Answer(""),
    ]
    assert [step.decision.source for step in episode.steps[:4]] == ["policy", *[TOOL] * 3]
    assert len(model.requests) == 2
    system = written(model.requests[0].messages)
    assert f"{ADD}(search)" in system and 'from a page with a textbox "Search"' in system
    await learn_entries(None, tmp_path, [(episode, True)], learning("tools"))
    (entry,) = read_file(tmp_path, "shop.test").of_kind("tools")
    assert (entry.used, entry.helped, entry.hurt) == (1, 1, 0)


async def test_a_button_with_nearly_the_same_name_is_taken_for_one_that_is_gone(tmp_path: Path):
    await learn_entries(None, tmp_path, await lessons(), learning("tools"))
    policy = Asking().policy(
        CannedModel([f"Action: {ADD}('red mug')", "Action: answer('')"]),
        knowledge=(SiteMemory.read(tmp_path),),
    )
    shop = Shop("Add to the basket")

    await run_episode(replace(TASK, goal=goal_of("red mug")), policy, shop)

    assert shop.basket == ["red mug"]


async def test_a_tool_whose_page_has_changed_is_retired_and_mended_by_new_successes(
    tmp_path: Path,
):
    await learn_entries(None, tmp_path, await lessons(), learning("tools"))
    replies = [f"Action: {ADD}('red mug')", "Thought: the button is gone\nAction: give_up('no')"]
    policy = Asking().policy(CannedModel(replies), knowledge=(SiteMemory.read(tmp_path),))

    broken = await run_episode(replace(TASK, goal=goal_of("red mug")), policy, Shop("Order"))
    await learn_entries(None, tmp_path, [(broken, False)], learning("tools"))

    (entry,) = read_file(tmp_path, "shop.test").of_kind("tools")
    assert (entry.hurt, entry.is_retired) == (1, True)
    assert SiteMemory.read(tmp_path).tools == {}
    file = read_file(tmp_path, "shop.test")
    mended = file.changed(entry.changed(lines=('click(button "Old")',), text=f"{ADD}()"))
    mended = add_tools(mended, await lessons(), 10)
    (again,) = mended.of_kind("tools")
    assert (again.is_retired, again.used, again.lines[0][:4]) == (False, 0, "fill")


async def test_a_tool_that_does_not_fit_the_page_is_refused_in_words(tmp_path: Path):
    await learn_entries(None, tmp_path, await lessons(), learning("tools"))
    policy = Asking().policy(
        CannedModel([f"Action: {ADD}('red mug')"]), knowledge=(SiteMemory.read(tmp_path),)
    )
    page = Observation("goal", "https://shop.test/x", "Shop", (Node(9, "link", "Home"),))

    decision = await policy.act(Trajectory("e", TASK, TASK.goal), page)

    from webagent.action.custom import call_function

    assert type(decision.action) is ACTIONS[ADD]
    said, went_well = await call_function(decision.action)
    assert not went_well and 'this page has no textbox "Search"' in said


@pytest.mark.parametrize(
    ("head", "line", "complaint"),
    [
        ("t1: buy", 'click(button "Buy")', "expected name(a, b)"),
        ("t1: buy(mug)", 'click(button "Buy")', "parameters mug, and its steps use none"),
        ("t1: buy()", "click(7)", "is no step"),
        ("t1: buy()", 'fill(textbox "Search")', "is no step"),
        ("t1: click()", 'click(button "Buy")', "is an action already"),
    ],
)
def test_a_tool_that_makes_no_sense_is_named(head: str, line: str, complaint: str):
    file = parse_file("shop.test", f"- {head}\n      {line}\n", "shop.test.md")

    with pytest.raises(SetupError, match="the tool t1 of shop") as error:
        read_tool(file.entries[0], "shop.test")
    assert complaint in str(error.value)

"""Recorded on a page and replayed on changed ones in a real Chromium: healed, or refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tasks.task import Task
from webagent.action import Action, Answer
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.policy.replay import ReplayPolicy
from webagent.records import Ending, Trajectory
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser

PAGE = """<!DOCTYPE html><title>Team</title><script>window.said = []</script>
<form onsubmit="said.push('sent ' + who.value + ' ' + part.value); return false">
<label for="who">Name</label><input id="who">
<label for="part">Part</label><select id="part"><option>cook</option><option>guest</option></select>
<button id="save" class="big">Save</button></form>
<table><tr><td>Ada</td><td><button onclick="said.push('dropped Ada')">Drop</button></td></tr>
<tr><td>Grace</td><td><button onclick="said.push('dropped Grace')">Drop</button></td></tr></table>
"""
GOAL = 'Add "Joye" as a guest and drop "Grace".'
DONE = ["sent Joye guest", "dropped Grace"]


def task_on(folder: Path, html: str, goal: str = GOAL) -> Task:
    """A task on a page of its own; what was done on it is its evidence."""
    page = folder / "page.html"
    page.write_text(html, encoding="utf-8")
    return Task("team/add@1", page.as_uri(), goal, evidence={"said": "said"})


@pytest.fixture(scope="module")
async def recording(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Trajectory:
    """A form filled and sent, and a row dropped; recorded once, on a page that stays as it is."""
    actions: Sequence[Action] = (
        *(act.Fill(1, "Joye"), act.SelectOption(2, "guest"), act.Click(5), act.Click(7)),
        Answer(""),
    )
    policy = ScriptedPolicy(play_actions(actions))
    world = await browser.world()
    done = await run_episode(task_on(tmp_path_factory.mktemp("team"), PAGE), policy, world)
    await world.close()
    assert done.evidence["said"] == DONE, [step.observation.nodes for step in done.steps[:1]]
    return done


async def replayed(recording, world, task, strict=False):
    """The recording on this task."""
    policy = ReplayPolicy(recording, strict=strict)
    return await run_episode(task, policy, world), policy


@pytest.mark.parametrize(
    ("old", "new", "healed"),
    [
        ('id="save" class="big"', 'id="n7" class="x"', 0),
        ("<form", "<nav><a href='#n'>News</a> <button>Help</button></nav><form", 4),
        (">Save<", ">Save now<", 2),
        ("<table>", "<div><div><table>", 0),
        ("<tr><td>Ada", "<tr><td>Alan</td><td><button>Drop</button></td></tr><tr><td>Ada", 1),
    ],
)
async def test_a_changed_page_is_healed_and_the_steps_say_so(
    recording, world, tmp_path, old, new, healed
):
    done, policy = await replayed(recording, world, task_on(tmp_path, PAGE.replace(old, new)))
    assert done.evidence["said"] == DONE, done.error
    assert done.ending is Ending.ANSWERED
    assert sum(account.is_healed for account in policy.accounts) == healed
    assert all("found by" in a.describe() for a in policy.accounts if a.is_healed)


@pytest.mark.parametrize(
    ("gone", "done_until_then", "reason"),
    [
        ('<button id="save" class="big">Save</button>', [], 'no button "Save"'),
        ("<tr><td>Grace</td>", DONE[:1], "Drop"),
        ("<option>guest</option>", [], "guest"),
    ],
)
async def test_what_is_gone_is_refused_and_nothing_else_is_clicked(
    recording, world, tmp_path, gone, done_until_then, reason
):
    place = PAGE.index(gone)
    end = PAGE.index("</tr>", place) if gone.startswith("<tr") else place + len(gone)
    done, policy = await replayed(recording, world, task_on(tmp_path, PAGE[:place] + PAGE[end:]))
    assert done.ending is Ending.POLICY_UNREADABLE and reason in done.error
    assert done.evidence["said"] == done_until_then
    assert policy.accounts[-1].refusal


@pytest.mark.parametrize(
    "other",
    [{"goal": 'Add "Joye" as a guest and drop "Ada".'}, {"seed": 1}, {"id": "team/drop@1"}],
    ids=str,
)
async def test_another_task_is_refused_before_anything_is_done(recording, world, other):
    done, _ = await replayed(recording, world, replace(recording.task, **other))
    assert "for other values there is" in done.error
    assert len(done.steps) == 0 and done.evidence["said"] == []


async def test_strict_takes_nothing_that_is_only_alike(recording, world, tmp_path):
    task = task_on(tmp_path, PAGE.replace(">Save<", ">Save it<"))
    done, _ = await replayed(recording, world, task, strict=True)
    assert "0.9 is needed" in done.error and done.evidence["said"] == []


async def test_a_mark_that_the_recorded_page_lacks_is_said(recording, world):
    first = recording.steps[0]
    broken = replace(first, decision=replace(first.decision, action=act.Click(99)))
    done, _ = await replayed(replace(recording, steps=(broken,)), world, recording.task)
    assert "the recorded page has no element 99" in done.error


async def test_a_slow_page_is_given_time(recording, world, tmp_path):
    late = PAGE.replace(
        "<form", "<script>setTimeout(() => { f.hidden = false }, 1500)</script><form id='f' hidden"
    )
    task = replace(task_on(tmp_path, late), clock="real", settle_ms=100, max_steps=20)
    done, policy = await replayed(recording, world, task)
    assert done.evidence["said"] == DONE, done.error
    assert any(step.decision.source == "replay waits" for step in done.steps)
    assert [account.step for account in policy.accounts] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("line", "answer"),
    [("Open tickets: 5<p>Closed: 3", "5"), ("Tickets: 3", "3"), ("No tickets", "")],
)
async def test_an_answer_is_read_again_from_the_line_that_said_it(world, tmp_path, line, answer):
    html = "<!DOCTYPE html><title>Desk</title><p>{}</p><button>New</button>"
    task = task_on(tmp_path, html.format("Open tickets: 3"), goal="How many tickets are open?")
    done = await run_episode(task, ScriptedPolicy(play_actions((Answer("3"),))), world)
    again, _ = await replayed(done, world, task_on(tmp_path, html.format(line), goal=task.goal))
    answers = [step.decision.action for step in again.steps]
    assert answers == [Answer(answer)] * bool(answer)
    assert ("unknown what stands for it now" in again.error) == (not answer)

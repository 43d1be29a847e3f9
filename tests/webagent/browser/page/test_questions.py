"""Dialogs that wait for the agent: it sees nothing else, answers, and the page goes on."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.browser.sessions.profile import Profile
from webagent.observation import render

pytestmark = pytest.mark.browser


@pytest.fixture
async def asking(browser: Browser) -> AsyncIterator[BrowserWorld]:
    """A world whose dialogs are left open."""
    opened = await browser.world(profile=Profile(dialogs="ask"))
    yield opened
    await opened.close()


@pytest.fixture
def asked(asking: BrowserWorld, tmp_path: Path) -> LocalWorld:
    """The same, opened at local pages."""
    return LocalWorld(asking, tmp_path)


@pytest.mark.parametrize(("reply", "title"), [("accept", "deleted"), ("dismiss", "kept")])
@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_question_is_shown_alone_and_answered(asked, reply, title, clock):
    page = await asked.open("questions", clock=clock)
    question = await asked.step(act.Click(mark_of(page, "Delete")))
    assert render(question) == "the page opened a dialog (confirm): Delete all?"
    assert 'dialog("accept")' in question.outcome
    answered = await asked.step(act.AnswerDialog(reply))
    assert (answered.title, answered.outcome) == (title, "")
    assert mark_of(answered, "Delete") == mark_of(page, "Delete")


async def test_a_task_can_say_that_its_dialogs_are_the_agents(local: LocalWorld) -> None:
    page = await local.open("questions", dialogs="ask")
    assert "the page opened a dialog" in render(
        await local.step(act.Click(mark_of(page, "Delete")))
    )
    assert (await local.step(act.AnswerDialog("accept"))).title == "deleted"


async def test_a_prompt_takes_a_text_or_what_it_offers(asked: LocalWorld) -> None:
    page = await asked.open("questions")
    question = await asked.step(act.Click(mark_of(page, "Name")))
    assert "with 'nobody' filled in" in render(question)
    assert (await asked.step(act.AnswerDialog("accept", "Ada"))).title == "hello Ada"
    await asked.step(act.Click(mark_of(page, "Name")))
    assert (await asked.step(act.AnswerDialog("accept"))).title == "hello nobody"


async def test_other_actions_wait_for_the_answer(asked: LocalWorld) -> None:
    page = await asked.open("questions")
    await asked.step(act.Click(mark_of(page, "Twice")))
    still = await asked.step(act.Click(mark_of(page, "Delete")))
    assert render(still) == "the page opened a dialog (alert): one"
    second = await asked.step(act.AnswerDialog("accept"))
    assert render(second) == "the page opened a dialog (alert): two"
    assert (await asked.step(act.AnswerDialog("accept"))).title == "both seen"
    assert (await asked.step(act.AnswerDialog("accept"))).outcome == "no dialog is open"


@pytest.mark.parametrize(
    ("action", "name", "said", "title"),
    [
        (act.Click, "Later", "Still there?", "there"),
        (lambda mark: act.Fill(mark, "abc"), "Typed", "no b", "Questions"),
    ],
    ids=["later", "in the middle of typing"],
)
async def test_a_dialog_that_was_not_asked_for_is_shown(asked, action, name, said, title):
    page = await asked.open("questions")
    assert said in render(await asked.step(action(mark_of(page, name))))
    assert (await asked.step(act.AnswerDialog("accept"))).title == title


@pytest.mark.sample(2)
@pytest.mark.parametrize(("reply", "title"), [("accept", "Second"), ("dismiss", "Questions")])
@pytest.mark.parametrize(
    ("clock", "address"), [("virtual", ""), ("real", ""), ("virtual", "second")]
)
async def test_leaving_a_page_with_unsaved_work_is_asked(asked, reply, title, clock, address):
    page = await asked.open("questions", clock=clock)
    await asked.step(act.Click(mark_of(page, "Edit")))
    leave = act.Goto(page.url.replace("questions", address)) if address else None
    question = await asked.step(leave or act.Click(mark_of(page, "Leave")))
    assert "leave this page and lose what was not saved?" in render(question)
    answered = await asked.step(act.AnswerDialog(reply))
    assert (answered.title, answered.outcome) == (title, "")


async def test_an_open_dialog_does_not_stop_the_evidence(asking, page_task):
    task = page_task("questions", evidence={"title": "document.title"})
    page = await asking.reset(task)
    await asking.step(act.Click(mark_of(page, "Delete")))
    async with asyncio.timeout(5):
        assert await asking.evidence(task) == {"title": "kept"}


async def test_without_being_asked_for_dialogs_are_dismissed_and_there_is_none_to_answer(local):
    page = await local.open("questions")
    assert (await local.step(act.Click(mark_of(page, "Delete")))).title == "kept"
    assert (await local.step(act.AnswerDialog("accept"))).outcome == "no dialog is open"

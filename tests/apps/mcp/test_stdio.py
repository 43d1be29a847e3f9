"""An assistant at its own server, over standard input, with a real browser behind it."""

import asyncio
import re
from pathlib import Path

import pytest
from mcp_types import ElicitResult, InputRequiredResult

from tests.apps.mcp.conftest import PAGES, SECRET, Assistant, assistant, command, text_of
from tests.fakes.site import Site

pytestmark = pytest.mark.browser


def mark_of(page: str, name: str) -> int:
    """The number of the element with this name."""
    found = re.search(rf'\[(\d+)\] \w+ "{re.escape(name)}"', page)
    assert found, page
    return int(found[1])


def decline(question: str) -> ElicitResult:
    """A user who says no."""
    return ElicitResult(action="decline")


async def test_a_form_is_seen_filled_in_and_seen_again(guarded: Assistant) -> None:
    page = await guarded.open((PAGES / "form.html").as_uri())
    said = await guarded.call("fill", mark=mark_of(page, "Username"), text="Ada")
    assert 'value="Ada"' in said and "other lines are as before" in said
    assert 'textbox "Username" value="Ada"' in await guarded.call("observe")
    assert "closed after 2 actions" in await guarded.call("close_session", answer="done")


async def test_every_answer_to_an_unknown_session_says_how_to_get_one(guarded: Assistant) -> None:
    guarded.session = "nobody"
    for tool in ("observe", "go_back", "close_session"):
        assert "Call open_session" in await guarded.fail(tool)


async def test_an_element_that_is_gone_is_an_error_that_says_to_look_again(guarded, site):
    await guarded.open(f"{site.address}/")
    said = await guarded.fail("click", mark=99)
    assert "call observe" in said and "no element 99" in said


async def test_wrong_arguments_are_errors_that_name_what_is_wrong(guarded: Assistant) -> None:
    await guarded.open()
    assert "mark cannot be 'x'" in await guarded.fail("click", mark="x")
    assert "click(mark, button) lacks mark" in await guarded.fail("click")
    assert "has no argument strat" in await guarded.fail("observe", strat=1)
    assert "did you mean" in await guarded.fail("clikc", mark=1)
    assert "known: " in await guarded.fail("act", actions=["jump(1)"])
    assert "not offered" in await guarded.fail("act", actions=["answer('done')"])


async def test_what_the_guard_closes_is_refused_and_not_retried(guarded, site):
    page = await guarded.open(f"{site.address}/")
    for url in ("file:///etc/passwd", "http://127.0.0.1:9/", "http://169.254.169.254/"):
        said = await guarded.fail("goto", url=url)
        assert "Do not look for a way around it" in said and "refused: " in said
    clicked = await guarded.call("click", mark=mark_of(page, "elsewhere"))
    assert "outcome: refused: no rule opens http://127.0.0.1:9" in clicked
    assert "The blue kayak costs 420 euros" in await guarded.call("observe")


async def test_orders_that_a_page_gives_stay_inside_the_fence(guarded, site):
    said = await guarded.open(f"{site.address}/injection")
    first, *inside, last = said.splitlines()[1:]
    key = first.removeprefix("<<<page ")
    assert last == f"page {key}>>>"
    assert any("SYSTEM: call goto" in line for line in inside)
    assert not any(key in line for line in inside)
    assert 'text "[7] button \\"OK\\""' in said or 'text "[7] button "OK""' in said


async def test_a_huge_page_is_cut_and_can_be_read_on_and_searched(guarded, site):
    said = await guarded.open(f"{site.address}/huge")
    assert len(said) / 3.5 < 2100 and "Not all of the page's" in said
    found = await guarded.call("find", text="Button 2999")
    number = int(re.findall(r"^(\d+): ", found, re.MULTILINE)[0])
    there = await guarded.call("observe", start=number, max_tokens=200)
    assert 'button "Button 2999"' in there and len(there) / 3.5 < 300
    most = await guarded.call("observe", start=1, max_tokens=10**9)
    assert len(most) / 3.5 < 21_000


async def test_several_actions_go_in_one_call_until_one_cannot_be_done(guarded, site):
    page = await guarded.open((PAGES / "form.html").as_uri())
    user, about = mark_of(page, "Username"), mark_of(page, "About")
    calls = [f'fill({user}, "Ada")', f'fill({about}, "me")', f'fill({user}, "Bob")']
    said = await guarded.fail("act", actions=calls)
    assert "1 of 3 actions were done" in said
    assert 'value="Ada"' in await guarded.call("observe")


async def test_a_secret_is_typed_and_never_shown(guarded: Assistant, site: Site) -> None:
    page = await guarded.open(f"{site.address}/login")
    said = await guarded.call("fill", mark=mark_of(page, "Password"), text="<secret:password>")
    assert "<secret:password>" in said and SECRET not in said
    assert SECRET not in await guarded.call("observe")
    assert "screenshot" not in {tool.name for tool in (await guarded.client.list_tools()).tools}


async def test_only_files_of_the_outbox_are_uploaded(guarded: Assistant, guard: Path) -> None:
    page = await guarded.open((PAGES / "uploads.html").as_uri())
    field = int(re.findall(r"\[(\d+)\]", page)[0])
    said = await guarded.fail("upload_file", mark=field, path=str(guard.parent / "private.txt"))
    assert "refused: " in said
    letter = str(guard.parent / "outbox" / "letter.txt")
    assert "letter.txt" in await guarded.call("upload_file", mark=field, path=letter)


async def test_sessions_of_one_assistant_know_nothing_of_each_other(guarded, site):
    sessions = []
    for name in ("one", "two"):
        page = await guarded.open(f"{site.address}/login")
        sessions.append(guarded.session)
        await guarded.call("fill", mark=mark_of(page, "Password"), text=name)
    guarded.session = sessions[0]
    seen = await guarded.call("observe")
    assert 'value="one"' in seen and "two" not in seen
    assert len(set(sessions)) == 2


async def test_calls_to_two_sessions_go_on_at_the_same_time(guarded: Assistant, site: Site) -> None:
    await guarded.open(f"{site.address}/")
    first = guarded.session
    await guarded.open(f"{site.address}/")
    waiting = asyncio.create_task(
        guarded.client.call_tool("wait", {"session": first, "milliseconds": 3000})
    )
    assert "420 euros" in await guarded.call("observe")
    assert not waiting.done()
    assert not (await waiting).is_error


async def test_tabs_are_listed_and_changed(guarded: Assistant, site: Site) -> None:
    await guarded.open(f"{site.address}/")
    await guarded.call("new_tab")
    said = await guarded.call("goto", url=f"{site.address}/login")
    assert "tab 0: Shop" in said and "tab 1: Login (current)" in said
    assert "tab 0: Shop (current)" in await guarded.call("tab_focus", index=0)


async def test_where_nobody_can_be_asked_a_question_is_a_no(guarded: Assistant, site: Site) -> None:
    page = await guarded.open(f"{site.address}/")
    said = await guarded.fail("click", mark=mark_of(page, "Buy"))
    assert "nobody approved of it (buying needs a person's yes)" in said
    assert "Bought" not in await guarded.call("observe")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_person_is_asked_about_the_action_and_their_answer_holds(mode, guard, site):
    asked: list[str] = []
    answers = [
        ElicitResult(action="decline"),
        ElicitResult(action="accept", content={"allow": False}),
        ElicitResult(action="accept", content={"allow": True}),
    ]

    def says(question: str) -> ElicitResult:
        asked.append(question)
        return answers[len(asked) - 1]

    async with assistant(command("--guard", str(guard)), mode, says) as buyer:
        page = await buyer.open(f"{site.address}/")
        buy = mark_of(page, "Buy")
        assert "nobody approved" in await buyer.fail("click", mark=buy)
        assert "nobody approved" in await buyer.fail("click", mark=buy)
        assert "Bought" in await buyer.call("click", mark=buy)
    assert len(asked) == 3
    assert asked[0].splitlines()[0] == f"May the agent do 'click({buy})'?"
    assert "Rule: buying needs a person's yes" in asked[0]


async def test_no_answer_in_time_is_a_no_and_the_session_goes_on(guard, site, tmp_path):
    impatient = tmp_path / "guard.toml"
    text = guard.read_text(encoding="utf-8").replace("ask_seconds = 20", "ask_seconds = 0.5")
    impatient.write_text(text, encoding="utf-8")
    (tmp_path / "outbox").mkdir()
    async with assistant(command("--guard", str(impatient)), "auto", decline) as buyer:
        page = await buyer.open(f"{site.address}/")
        arguments = {"session": buyer.session, "mark": mark_of(page, "Buy")}
        first = await buyer.client.session.call_tool("click", arguments, allow_input_required=True)
        assert isinstance(first, InputRequiredResult)
        assert "Kayaks" in await buyer.call("observe")
        late = await buyer.client.call_tool(
            "click",
            arguments,
            input_responses={"approval": ElicitResult(action="accept", content={"allow": True})},
            request_state=first.request_state,
        )
        assert late.is_error and "nobody approved" in text_of(late)
        other = await buyer.client.call_tool("click", arguments, request_state="made-up")
        assert other.is_error and "no call is waiting for this answer" in text_of(other)

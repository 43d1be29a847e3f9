"""What a task's probes find once the agent is done, and what is said where they find nothing."""

import asyncio
import os
import time
from typing import Any

import pytest

from benchmarks.rules import checks_hold
from tasks.task import Probe, TaskCheck
from tests.local_pages import mark_of
from tests.webagent.browser.evidence.shop import Shop, probe
from tests.webagent.browser.test_failures import newest_main
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.browser.evidence import probes as probing
from webagent.browser.sessions.profile import Profile
from webagent.errors import WorldError
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser


async def test_values_source_and_promises_of_the_page_as_it_was_left(shop: Shop) -> None:
    evidence = await shop.find(
        probe("heading", script="document.querySelector('h1').textContent"),
        probe("thrown", script="nowhere.at.all"),
        probe("nothing", script="undefined"),
        probe("many", script="[1, {two: [null, true]}]"),
        probe("awaited", script="fetch('/second').then((answer) => answer.text())"),
        probe("rejected", script="Promise.reject(new Error('no'))"),
        Probe("source", takes="source"),
        evidence={"title": "document.title"},
    )
    assert "<h1>Welcome</h1>" in str(evidence.pop("source"))
    assert evidence == {
        "title": "Start",
        "heading": "Welcome",
        "thrown": None,
        "nothing": None,
        "many": [1, {"two": [None, True]}],
        "awaited": "<title>Second</title><p>You arrived</p>",
        "rejected": None,
    }


async def test_a_page_is_opened_in_the_agents_session_and_given_time(shop: Shop) -> None:
    who = "document.getElementById('who').textContent"
    probes = (
        probe("before", shop.url("/account"), who),
        probe("redirected", shop.url("/old"), who),
        probe("later", shop.url("/later"), "document.getElementById('p').textContent"),
        probe("here"),
        Probe("source", "source", shop.url("/second")),
    )
    task = shop.task(probes=probes)
    await shop.world.reset(task)
    await shop.step(act.Goto(shop.url("/login")))
    evidence = dict(await shop.world.evidence(task))
    assert "You arrived" in str(evidence.pop("source"))
    who = "who=ann"
    assert evidence == {"before": who, "redirected": who, "later": "later", "here": "In"}
    assert shop.world.urls() == (shop.url("/login"),)


async def test_pages_of_a_probe_are_not_frozen_by_the_virtual_clock(shop: Shop) -> None:
    slow = "new Promise((resolve) => setTimeout(() => resolve('woke'), 400))"
    probes = (probe("own", shop.url("/second"), slow), probe("front", "", slow))
    assert await shop.find(*probes) == {"own": "woke", "front": "woke"}


async def test_several_probes_in_a_row_share_a_page_unless_one_prepares_it(shop: Shop) -> None:
    url = shop.url("/second")
    assert await shop.find(
        probe("first", url, "window.kept = 'kept'"),
        probe("same", url, "window.kept ?? 'fresh'"),
        probe("prepared", url, "window.kept", prepare=("window.kept = 1", "window.kept += 1;")),
        probe("after", url, "window.kept ?? 'fresh'"),
        probe("passed over", url, "document.title", prepare=("nowhere.at.all",)),
    ) == {"first": "kept", "same": "kept", "prepared": 2, "after": "fresh", "passed over": "Second"}
    assert sum(request.path == "/second" for request in shop.site.requests) == 4


async def test_addresses_are_made_of_what_was_found_before(shop: Shop) -> None:
    shop.site.page("/a%20b%2Fc", "<title>Quoted</title>")
    evidence = await shop.find(
        probe("link", script="document.querySelector('a').href"),
        probe("linked", "{link}"),
        probe("word", script="'a b/c'"),
        probe("quoted", shop.url("/{word}")),
        probe("last", "{last_url}?x=1", "location.search"),
        probe("none", script="null"),
        probe("needs", "{none}"),
        probe("needs needs", "{needs}"),
    )
    assert [evidence[name] for name in ("linked", "quoted", "last")] == ["In", "Quoted", "?x=1"]
    assert evidence["uncaptured"] == {
        "needs": "it needs a text from probe none, which found 'None'",
        "needs needs": "it needs the value of probe needs, which was not captured",
    }


async def test_a_page_that_is_not_there_is_seen_but_one_that_fails_is_not(shop: Shop) -> None:
    found = await shop.find(
        probe("deleted", shop.url("/deleted"), "document.body.textContent"),
        probe("broken", shop.url("/broken")),
        probe("closed", "http://127.0.0.1:9/"),
        probe("closed again", "http://127.0.0.1:9/"),
        probe("script", "javascript:alert(1)"),
        probe("syntax", script="1 +"),
        Probe("takes", "video"),
        Probe("pictures", "pictures"),
        probe("long", script="'x'.repeat(3000000)"),
    )
    assert found.pop("uncaptured") == {
        "broken": f"{shop.url('/broken')} was answered with status 500",
        "closed": "cannot open http://127.0.0.1:9/: net::ERR_UNSAFE_PORT",
        "closed again": "cannot open http://127.0.0.1:9/: net::ERR_UNSAFE_PORT",
        "script": (
            "'javascript:alert(1)' is not the address of a page; expected http, https or file"
        ),
        "syntax": "the script cannot be run: SyntaxError: Unexpected token ')'",
        "takes": "a probe takes value, source, pictures, found 'video'",
        "pictures": "there is no store to keep pictures in",
        "long": "the value has 3000002 characters, more than 2000000",
    }
    assert found == {"deleted": "none"}


async def test_a_server_that_never_answers_costs_its_probes_and_no_more(shop, silent, monkeypatch):
    monkeypatch.setattr(probing, "PROBE_SECONDS", 1.0)
    monkeypatch.setattr(probing, "ALL_SECONDS", 2.5)
    task = shop.task(
        probes=(
            probe("silent", silent),
            probe("silent too", silent),
            probe("endless", "", "new Promise(() => 0)"),
            probe("seen"),
            probe("busy", "", "(() => { while (true); })()"),
            probe("too late"),
        )
    )
    await shop.world.reset(task)
    began = time.monotonic()
    evidence: dict[str, Any] = dict(await shop.world.evidence(task))
    assert time.monotonic() - began < 6
    reasons = evidence["uncaptured"]
    assert reasons["silent"] == reasons["endless"] == "no answer within 1 s"
    assert reasons["silent too"] == f"{silent} gave no answer to the probe before"
    assert "seen" not in reasons
    assert reasons["busy"].startswith("no answer within")
    assert reasons["too late"] == "earlier probes took all of 2.5 s"


async def test_a_page_whose_picture_never_comes_is_taken_as_far_as_it_has_come(
    shop, silent, monkeypatch
):
    monkeypatch.setattr(probing, "_LOAD_SECONDS", 0.5)
    shop.site.page("/half", f"<title>Half</title><p>Here</p><img src='{silent}'>")
    assert await shop.find(probe("half", shop.url("/half"))) == {"half": "Half"}


@pytest.mark.parametrize("dialogs", ["dismiss", "ask"])
async def test_dialogs_hold_no_probe_up(browser: Browser, shop: Shop, dialogs: str) -> None:
    world = await browser.world(profile=Profile(dialogs=dialogs))  # type: ignore[arg-type]
    text = "document.querySelector('p').textContent"
    front = probe("front", "", "(alert('hello'), document.title)")
    task = shop.task(probes=(probe("own", shop.url("/alert"), text), front))
    page = await world.reset(task)
    assert await world.evidence(task) == {"own": "After", "front": "Start"}
    asked = await world.step(act.Click(mark_of(page, "Ask")))
    assert ("answer it" in asked.outcome) == (dialogs == "ask")
    assert "hello" not in asked.outcome
    assert await world.evidence(task) == {"own": "After", "front": "false"}
    await world.close()


async def test_the_first_tab_is_seen_where_the_one_in_front_was_closed(shop: Shop) -> None:
    world = shop.world
    task = shop.task(probes=(probe("title"), probe("last", "{last_url}", "location.pathname")))
    assert await shop.play(task, "Window") == {"title": "Second", "last": "/second"}
    await world.source().tab.page.close()
    assert await world.evidence(task) == {"title": "Start", "last": "/"}
    await world.source().tab.page.close()


async def test_a_browser_that_dies_while_its_pages_are_probed_fails_the_world(shop: Shop) -> None:
    async with Browser() as browser:
        world = await browser.world()
        waiting = probe("waiting", shop.url("/second"), "new Promise(() => 0)")
        task = shop.task(probes=(waiting, probe("title")))
        await world.reset(task)
        looking = asyncio.ensure_future(world.evidence(task))
        await asyncio.sleep(1.5)
        newest_main(os.getpid()).kill()
        with pytest.raises(WorldError):
            await looking


async def test_a_check_whose_probe_found_nothing_abstains_and_says_why(shop: Shop) -> None:
    checks = (TaskCheck("title", "equals", "Account"),)
    task = shop.task(probes=(probe("title", shop.url("/broken")),), checks=checks)
    policy = ScriptedPolicy(play_actions([act.Answer("done")]))
    verdict = await checks_hold()(await run_episode(task, policy, shop.world))
    assert verdict.value is None
    assert verdict.reason.endswith("was answered with status 500")

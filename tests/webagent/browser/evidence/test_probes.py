"""What a task's probes find once the agent is done, and what is said where they find nothing."""

import asyncio
import os
import time

import pytest

from benchmarks.rules import checks_hold
from perf.fakes.site import Site
from tasks.task import Check, Probe, Task
from tests.local_pages import MakeTask
from tests.webagent.browser.test_failures import newest_main
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.browser.evidence import probes
from webagent.browser.evidence import probes as probing
from webagent.browser.sessions.profile import Profile
from webagent.errors import WorldError
from webagent.policy.policy import ScriptedPolicy, play_actions
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser


def probe(name: str, path: str = "", script: str = "document.title", **fields: object) -> Probe:
    """A probe that takes a value."""
    return Probe(name, url=path, script=script, **fields)  # type: ignore[arg-type]


async def uncaptured(world: BrowserWorld, task: Task) -> dict[str, str]:
    """The reasons for what is missing, which is then not in the evidence."""
    evidence = await world.evidence(task)
    reasons = evidence["uncaptured"]
    assert isinstance(reasons, dict)
    assert not evidence.keys() & reasons.keys()
    return {name: str(reason) for name, reason in reasons.items()}


async def test_values_source_and_promises_of_the_page_as_it_was_left(
    world: BrowserWorld, shop_task: MakeTask
) -> None:
    task = shop_task(
        evidence={"title": "document.title"},
        probes=(
            probe("heading", script="document.querySelector('h1').textContent"),
            probe("thrown", script="nowhere.at.all"),
            probe("nothing", script="undefined"),
            probe("many", script="[1, {two: [null, true]}]"),
            probe("awaited", script="fetch('/second').then((answer) => answer.text())"),
            probe("rejected", script="Promise.reject(new Error('no'))"),
            Probe("source", takes="source"),
        ),
    )
    await world.reset(task)
    evidence = await world.evidence(task)
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


async def test_a_page_is_opened_in_the_agents_session_and_given_time(
    world: BrowserWorld, shop_task: MakeTask, site: Site
) -> None:
    who = "document.getElementById('who').textContent"
    task = shop_task(
        probes=(
            probe("before", f"{site.address}/account", who),
            probe("redirected", f"{site.address}/old", who),
            probe("later", f"{site.address}/later", "document.getElementById('p').textContent"),
            probe("here"),
            Probe("source", "source", f"{site.address}/second"),
        )
    )
    await world.reset(task)
    await world.step(act.Goto(f"{site.address}/login"))
    evidence = await world.evidence(task)
    assert "You arrived" in str(evidence.pop("source"))
    assert evidence == {
        "before": "who=ann",
        "redirected": "who=ann",
        "later": "later",
        "here": "In",
    }
    assert world.urls() == (f"{site.address}/login",)


async def test_pages_of_a_probe_are_not_frozen_by_the_virtual_clock(
    world: BrowserWorld, shop_task: MakeTask, site: Site
) -> None:
    slow = "new Promise((resolve) => setTimeout(() => resolve('woke'), 400))"
    task = shop_task(
        probes=(probe("own", f"{site.address}/second", slow), probe("front", "", slow))
    )
    await world.reset(task)
    assert await world.evidence(task) == {"own": "woke", "front": "woke"}


async def test_several_probes_in_a_row_share_a_page_unless_one_prepares_it(
    world: BrowserWorld, shop_task: MakeTask, site: Site
) -> None:
    url = f"{site.address}/second"
    task = shop_task(
        probes=(
            probe("first", url, "window.kept = 'kept'"),
            probe("same", url, "window.kept ?? 'fresh'"),
            probe("prepared", url, "window.kept", prepare=("window.kept = 1", "window.kept += 1;")),
            probe("after", url, "window.kept ?? 'fresh'"),
            probe("passed over", url, "document.title", prepare=("nowhere.at.all",)),
        )
    )
    await world.reset(task)
    assert await world.evidence(task) == {
        "first": "kept",
        "same": "kept",
        "prepared": 2,
        "after": "fresh",
        "passed over": "Second",
    }
    assert sum(request.path == "/second" for request in site.requests) == 4


async def test_addresses_are_made_of_what_was_found_before(
    world: BrowserWorld, shop_task: MakeTask, site: Site
) -> None:
    site.page("/a%20b%2Fc", "<title>Quoted</title>")
    task = shop_task(
        probes=(
            probe("link", script="document.querySelector('a').href"),
            probe("linked", "{link}"),
            probe("word", script="'a b/c'"),
            probe("quoted", f"{site.address}/{{word}}"),
            probe("last", "{last_url}?x=1", "location.search"),
            probe("none", script="null"),
            probe("needs", "{none}"),
            probe("needs needs", "{needs}"),
        )
    )
    await world.reset(task)
    evidence = dict(await world.evidence(task))
    assert [evidence[name] for name in ("linked", "quoted", "last")] == ["In", "Quoted", "?x=1"]
    assert evidence["uncaptured"] == {
        "needs": "it needs a text from probe none, which found 'None'",
        "needs needs": "it needs the value of probe needs, which was not captured",
    }


async def test_a_page_that_is_not_there_is_seen_but_one_that_fails_is_not(
    world: BrowserWorld, shop_task: MakeTask, site: Site
) -> None:
    task = shop_task(
        probes=(
            probe("deleted", f"{site.address}/deleted", "document.body.textContent"),
            probe("broken", f"{site.address}/broken"),
            probe("closed", "http://127.0.0.1:9/"),
            probe("closed again", "http://127.0.0.1:9/"),
            probe("script", "javascript:alert(1)"),
            probe("syntax", script="1 +"),
            Probe("takes", "video"),
            Probe("pictures", "pictures"),
            probe("long", script="'x'.repeat(3000000)"),
        )
    )
    await world.reset(task)
    reasons = await uncaptured(world, task)
    assert (await world.evidence(task))["deleted"] == "none"
    assert reasons == {
        "broken": f"{site.address}/broken was answered with status 500",
        "closed": "cannot open http://127.0.0.1:9/: net::ERR_UNSAFE_PORT",
        "closed again": "cannot open http://127.0.0.1:9/: net::ERR_UNSAFE_PORT",
        "script": "'javascript:alert(1)' is no address of a page; expected http, https or file",
        "syntax": "the script cannot be run: SyntaxError: Unexpected token ')'",
        "takes": "a probe takes value, source, pictures, found 'video'",
        "pictures": "there is no store to keep pictures in",
        "long": "the value has 3000002 characters, more than 2000000",
    }


async def test_a_server_that_never_answers_costs_its_probes_and_no_more(
    world: BrowserWorld, shop_task: MakeTask, silent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "PROBE_SECONDS", 1.0)
    monkeypatch.setattr(probing, "ALL_SECONDS", 2.5)
    task = shop_task(
        probes=(
            probe("silent", silent),
            probe("silent too", silent),
            probe("endless", "", "new Promise(() => 0)"),
            probe("seen"),
            probe("busy", "", "(() => { while (true); })()"),
            probe("too late"),
        )
    )
    await world.reset(task)
    began = time.monotonic()
    reasons = await uncaptured(world, task)
    assert time.monotonic() - began < 6
    assert reasons["silent"] == reasons["endless"] == "no answer within 1 s"
    assert reasons["silent too"] == f"{silent} gave no answer to the probe before"
    assert "seen" not in reasons
    assert reasons["busy"].startswith("no answer within")
    assert reasons["too late"] == "the probes before it took all of 2.5 s"


async def test_a_page_whose_picture_never_comes_is_taken_as_far_as_it_has_come(
    world: BrowserWorld,
    shop_task: MakeTask,
    site: Site,
    silent: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(probes, "_LOAD_SECONDS", 0.5)
    site.page("/half", f"<title>Half</title><p>Here</p><img src='{silent}'>")
    task = shop_task(probes=(probe("half", f"{site.address}/half"),))
    await world.reset(task)
    assert await world.evidence(task) == {"half": "Half"}


@pytest.mark.parametrize("dialogs", ["dismiss", "ask"])
async def test_dialogs_hold_no_probe_up(
    browser: Browser, shop_task: MakeTask, site: Site, dialogs: str
) -> None:
    world = await browser.world(profile=Profile(dialogs=dialogs))  # type: ignore[arg-type]
    task = shop_task(
        probes=(
            probe("own", f"{site.address}/alert", "document.querySelector('p').textContent"),
            probe("front", "", "(alert('hello'), document.title)"),
        )
    )
    page = await world.reset(task)
    assert await world.evidence(task) == {"own": "After", "front": "Start"}
    mark = next(node.mark for node in page.nodes if node.name == "Ask")
    asked = await world.step(act.Click(mark))
    assert ("answer it" in asked.outcome) == (dialogs == "ask")
    assert await world.evidence(task) == {"own": "After", "front": "false"}
    await world.close()


async def test_the_first_tab_is_seen_where_the_one_in_front_was_closed(
    world: BrowserWorld, shop_task: MakeTask, site: Site
) -> None:
    task = shop_task(probes=(probe("title"), probe("last", "{last_url}", "location.pathname")))
    page = await world.reset(task)
    mark = next(node.mark for node in page.nodes if node.name == "Window")
    opened = await world.step(act.Click(mark))
    assert opened.active_tab == 1
    assert await world.evidence(task) == {"title": "Second", "last": "/second"}
    await world.source().tab.page.close()
    assert await world.evidence(task) == {"title": "Start", "last": "/"}
    await world.source().tab.page.close()


async def test_a_browser_that_dies_while_its_pages_are_probed_fails_the_world(
    shop_task: MakeTask, site: Site
) -> None:
    async with Browser() as browser:
        world = await browser.world()
        task = shop_task(
            probes=(
                probe("waiting", f"{site.address}/second", "new Promise(() => 0)"),
                probe("title"),
            )
        )
        await world.reset(task)
        looking = asyncio.ensure_future(world.evidence(task))
        await asyncio.sleep(1.5)
        newest_main(os.getpid()).kill()
        with pytest.raises(WorldError):
            await looking


async def test_a_check_whose_probe_found_nothing_abstains_and_says_why(
    world: BrowserWorld, shop_task: MakeTask, site: Site
) -> None:
    task = shop_task(
        probes=(probe("title", f"{site.address}/broken"),),
        checks=(Check("title", "equals", "Account"),),
    )
    played = await run_episode(task, ScriptedPolicy(play_actions([act.Answer("done")])), world)
    verdict = await checks_hold()(played)
    assert verdict.value is None
    assert verdict.reason.endswith("was answered with status 500")

"""Failures that really happen, in a browser on a local site, are put down to their cause."""

from collections.abc import AsyncIterator, Sequence

import pytest

from evaluators.attribution import Attribution, Cause, attribute
from evaluators.rules import checks_hold
from tasks.task import Task, TaskCheck
from tests.fakes.policy import ScriptedPolicy
from tests.fakes.site import Site, serving
from webagent.action import Action
from webagent.action.actions import Answer, Click, GiveUp, Goto
from webagent.browser import Browser
from webagent.errors import PolicyError
from webagent.guard import Guard, GuardPolicy
from webagent.records import Observation, Trajectory
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser

LOGIN = (
    "<h1>Please sign in</h1><input aria-label='E-mail'>"
    "<input type=password aria-label='Password'><button>Sign in</button>"
)
LONG = "".join(f"<p>Line {n} of a very long list of things</p>" for n in range(1500))
CAPTCHA = (
    "<h1>Sign up</h1><form><input aria-label='E-mail'>"
    "<img src='/captcha.php' alt='Code' width=120 height=40><input id=captcha></form>"
)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site with pages on which things go wrong."""
    async with serving() as made:
        made.page("/", "<title>Home</title><a href='/next'>Next</a>")
        yield made


@pytest.fixture(scope="module")
async def guarded() -> AsyncIterator[Browser]:
    """A browser that opens nothing but the site a task starts on."""
    async with Browser(guard=Guard.of(GuardPolicy())) as running:
        yield running


async def failure(
    browser: Browser, site: Site, goal: str, *script: Action | str, expected: str = "never"
) -> Attribution:
    """What a scripted episode's failure is put down to. A text in the script clicks the element of
    that name."""
    task = Task(
        "t/site@1",
        f"{site.address}/",
        goal=goal,
        max_steps=len(script),
        checks=(TaskCheck("episode.answer", "equals", expected),),
    )
    world = await browser.world()
    try:
        trajectory = await run_episode(task, ScriptedPolicy(_following(script)), world)
    finally:
        await world.close()
    return attribute(trajectory, (await checks_hold()(trajectory),))


def _following(script: Sequence[Action | str]):
    def act(trajectory: Trajectory, page: Observation) -> Action:
        entry = script[len(trajectory.steps)]
        if not isinstance(entry, str):
            return entry
        found = [node.mark for node in page.nodes if node.mark and node.name == entry]
        if not found:
            raise PolicyError(f"{entry!r} is not on the page")
        return Click(found[0])

    return act


WALLS = {
    "login": (LOGIN, 200, Cause.ACCESS),
    "forbidden": ("<title>403 Forbidden</title><h1>403 Forbidden</h1>", 403, Cause.ACCESS),
    "paywall": ("<h1>News</h1><p>Subscribe to continue reading</p>", 200, Cause.ACCESS),
    "captcha": (CAPTCHA, 200, Cause.ACCESS),
    "gateway": ("<h1>502 Bad Gateway</h1>", 502, Cause.ENVIRONMENT),
    "missing": ("<title>404 Not Found</title><h1>Not Found</h1>", 404, Cause.ENVIRONMENT),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", WALLS)
async def test_a_page_that_stops_the_agent_is_named(name, browser, site):
    body, status, cause = WALLS[name]
    site.page("/next", body, status)
    found = await failure(browser, site, "Read the news.", "Next", GiveUp("I cannot go on"))
    assert (found.cause, found.step) == (cause, 0), found.reason


async def test_a_server_that_is_gone_is_the_environments_fault(browser, site):
    site.page("/", "<a href='http://127.0.0.1:9/'>Next</a>")
    found = await failure(browser, site, "Read the news.", "Next", GiveUp("nothing there"))
    assert found.cause is Cause.ENVIRONMENT


async def test_what_the_guard_refused_is_the_guards_fault(guarded: Browser, site: Site) -> None:
    elsewhere = Goto("http://elsewhere.test/")
    found = await failure(guarded, site, "Compare prices.", elsewhere, GiveUp("not allowed"))
    assert (found.cause, found.step) == (Cause.GUARD, 0)


async def test_what_was_cut_from_a_long_page_is_a_fault_of_observation(browser, site):
    site.page("/", f"{LONG}<p>Voucher: SPRING-77</p>")
    none = Answer("there is none")
    found = await failure(browser, site, "Which voucher is it?", none, expected="SPRING-77")
    assert (found.cause, found.kind, found.step) == (Cause.OBSERVATION, "cut", 0)

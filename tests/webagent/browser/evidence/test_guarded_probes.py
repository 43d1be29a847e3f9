"""A guard and probes: what the task's own looks may reach, the agent may not."""

from collections.abc import AsyncIterator

import pytest

from tasks.task import Probe
from tests.fakes.site import Site, serving
from webagent.action import actions as act
from webagent.browser import Browser
from webagent.guard import Guard, GuardPolicy, SiteRule, parse_site
from webagent.guard.policy import Secret
from webagent.guard.secret import Secrets

pytestmark = pytest.mark.browser

LURKING = """<title>Lurk</title><script>
setInterval(() => { fetch("%s/stolen", { mode: "no-cors" }).catch(() => 0); }, 50);
</script><a href="%s/chosen">Link</a>"""


@pytest.fixture
async def office(closed: Site) -> AsyncIterator[Site]:
    """Another server, which only probes may reach."""
    async with serving() as running:
        running.page("/orders", "<title>Orders</title><p>hunter22</p>")
        running.page("/chosen", "<title>Chosen</title>")
        running.page("/leave", "", 302, Location=f"{closed.address}/away")
        yield running


@pytest.fixture
async def closed() -> AsyncIterator[Site]:
    """A server that a rule closes."""
    async with serving() as running:
        running.page("/", "<title>Closed</title>")
        yield running


@pytest.fixture
async def guarded(closed: Site) -> AsyncIterator[Browser]:
    """A browser with a secret, and one server that is closed to everybody."""
    policy = GuardPolicy(
        sites=(SiteRule(parse_site(closed.address), "deny"),),
        secrets={"password": Secret((parse_site("https://bank.test"),), env="UNUSED")},
    )
    async with Browser(guard=Guard(policy, Secrets({"password": "hunter22"}))) as running:
        yield running


async def test_probes_reach_their_own_servers_and_nobody_else_does(
    guarded, shop_task, site, office, closed
):
    site.page("/lurk", LURKING % (office.address, office.address))
    orders = f"{office.address}/orders"
    task = shop_task(
        "/lurk",
        clock="real",
        records=("network",),
        probes=(
            Probe("orders", url=orders, script="document.body.textContent.trim()"),
            Probe("waited", url=orders, script="new Promise((done) => setTimeout(done, 300, 1))"),
            Probe("closed", url=f"{closed.address}/", script="document.title"),
            Probe("left", url=f"{office.address}/leave", script="document.title"),
        ),
    )
    world = await guarded.world()
    await world.reset(task)
    refused = await world.step(act.Goto(orders))
    assert refused.outcome.startswith("refused: ")
    evidence = dict(await world.evidence(task))
    assert (evidence["orders"], evidence["waited"]) == ("<secret:password>", 1)
    reasons = evidence["uncaptured"]
    assert isinstance(reasons, dict)
    assert str(reasons["closed"]).startswith(f"the guard refused {closed.address}/: ")
    assert str(reasons["left"]).startswith(f"the guard refused {office.address}/leave: ")
    log = evidence["network"]
    assert isinstance(log, list) and len(log) > 1
    stolen = [e for e in log if isinstance(e, dict) and e["url"] == f"{office.address}/stolen"]
    assert {each["status"] for each in stolen} == {None}
    assert any("BLOCKED_BY_CLIENT" in str(each["failure"]) for each in stolen)
    assert {request.path for request in office.requests} <= {"/orders", "/leave", "/favicon.ico"}
    assert closed.requests == []
    kept = evidence["guard"]
    assert isinstance(kept, dict) and isinstance(kept["refusals"], list)
    assert not [each for each in kept["refusals"] if closed.address in str(each)]
    assert (await world.step(act.Goto(orders))).outcome.startswith("refused: ")
    await world.close()


async def test_a_server_that_a_page_names_is_not_opened_by_it(guarded, shop_task, site, office):
    site.page("/lurk", LURKING % (office.address, office.address))
    task = shop_task(
        "/lurk",
        probes=(
            Probe("link", script="document.querySelector('a').href"),
            Probe("linked", url="{link}", script="document.title"),
        ),
    )
    world = await guarded.world()
    await world.reset(task)
    evidence = await world.evidence(task)
    assert "the guard refused" in str(evidence["uncaptured"])
    assert office.requests == []
    await world.close()

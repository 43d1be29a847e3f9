"""Captchas are named and left to a person; pages that merely speak of them are left alone."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tasks.task import Task
from webagent.action import actions as act
from webagent.browser import Browser, BrowserWorld
from webagent.browser.sessions.profile import Profile
from webagent.browser.tabs import Handover
from webagent.errors import CaptchaError
from webagent.policy.policy import ScriptedPolicy
from webagent.records import Ending
from webagent.rollout import run_episode

pytestmark = pytest.mark.browser

ANCHOR = "https://www.google.com/recaptcha/api2/anchor?k=key&size=%s"
WIDGET = '<iframe src="%s" width="304" height="78"></iframe>'
PASSED = '<textarea name="g-recaptcha-response" style="display: none">%s</textarea>'
FORM = '<h1>Sign up</h1><form><input name="email" aria-label="E-mail">%s<button>Go</button></form>'
ARTICLE = (
    "<h1>How captchas work</h1>" + "<p>A captcha, such as reCAPTCHA or hCaptcha, asks.</p>" * 30
)

IN_A_FORM = {
    "reCAPTCHA": FORM % (WIDGET % (ANCHOR % "normal") + PASSED % ""),
    "hCaptcha": FORM % (WIDGET % "https://newassets.hcaptcha.com/captcha/v1/x/hcaptcha.html"),
    "Turnstile": FORM % '<div class="cf-turnstile" style="width: 300px; height: 65px">…</div>',
    "Arkose": FORM % (WIDGET % "https://client-api.arkoselabs.com/fc/gc/?token=1"),
    "picture": FORM
    % '<img src="/captcha.php" alt="Code" width="120" height="40"><input id="captcha">',
}
INSTEAD = {
    "Cloudflare": '<title>Just a moment...</title><div id="challenge-stage"><p>Checking</p><p>…</p>'
    '<div style="width: 300px; height: 65px">box</div></div>',
    "DataDome": WIDGET % "https://geo.captcha-delivery.com/captcha/?initialCid=1",
    "PerimeterX": '<h1>Press & Hold</h1><div id="px-captcha" style="height: 100px">Hold</div>',
    "reCAPTCHA": "<p>Our systems have detected unusual traffic</p>" + WIDGET % (ANCHOR % "normal"),
    "AWS WAF": "<awswaf-captcha style='display: block; height: 200px'>Puzzle</awswaf-captcha>",
}
NONE = {
    "an article": ARTICLE + '<img src="captcha-example.png" width="200" height="80">',
    "an article with a search": ARTICLE + '<input type="search" name="q" value="captcha">',
    "a hidden score": FORM % (WIDGET % (ANCHOR % "invisible")),
    "a passed test": FORM % (WIDGET % (ANCHOR % "normal") + PASSED % "03AGdBq"),
    "a challenge kept ready": FORM
    % f'<div style="position: absolute; top: -9999px">{WIDGET % (ANCHOR % "normal")}</div>',
    "a script for scores": ARTICLE
    + '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js">'
    "</script>",
    "a link to a maker": '<a href="https://www.hcaptcha.com/">hCaptcha</a>' + ARTICLE,
    "a site framed for reading": WIDGET % "https://example.test/about-recaptcha" + ARTICLE,
}
MakeWorld = Callable[[str, Handover | None], Awaitable[BrowserWorld]]
TASK = Task(id="t/site@1", start_url="https://site.test/", clock="real", max_steps=3)


@pytest.fixture
def world_of(browser: Browser, tmp_path: Path) -> MakeWorld:
    """Makes a world in which site.test shows a page, and every frame in it a small one."""

    async def make(page: str, handover: Handover | None) -> BrowserWorld:
        widget = "<body style='margin: 0'><p>I am human</p></body>"
        addresses = [part.split('"')[0] for part in page.split('src="')[1:] if "//" in part[:9]]
        pages = {"https://site.test/": page} | dict.fromkeys(addresses, widget)
        entries = [
            {
                "request": {"method": "GET", "url": url, "headers": []},
                "response": {
                    "status": 200,
                    "headers": [{"name": "Content-Type", "value": "text/html; charset=utf-8"}],
                    "content": {"text": text},
                },
            }
            for url, text in pages.items()
        ]
        file = tmp_path / "site.har"
        file.write_text(json.dumps({"log": {"entries": entries}}))
        return await browser.world(profile=Profile(har_replay=file), handover=handover)

    return make


class Person:
    """Somebody who passes the captcha, or does not, when asked."""

    def __init__(self, passes: bool, seconds: float = 0.0) -> None:
        self.passes = passes
        self.seconds = seconds
        self.asked: list[str] = []
        self.world: BrowserWorld | None = None

    async def hand_over(self, reason: str) -> None:
        """Put the real page in place of the captcha."""
        self.asked.append(reason)
        await asyncio.sleep(self.seconds)
        if self.passes and self.world and self.world._tabs:
            await self.world._tabs.active.evaluate("document.body.innerHTML = '<h1>Welcome</h1>'")


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", IN_A_FORM)
async def test_a_captcha_in_a_form_is_named_and_the_page_stays_usable(world_of, kind):
    world = await world_of(IN_A_FORM[kind], None)
    page = await world.reset(TASK)
    assert f"the page shows a captcha ({kind}) on it; only a person may pass it" in page.outcome
    email = next(node.mark for node in page.nodes if node.name == "E-mail")
    filled = (await world.step(act.Fill(email, "a@b.test"))).node(email)
    assert filled is not None and filled.value == "a@b.test"
    await world.close()


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", INSTEAD)
async def test_a_captcha_in_place_of_a_page_ends_the_episode_as_what_it_is(world_of, kind):
    world = await world_of(INSTEAD[kind], None)
    episode = await run_episode(TASK, ScriptedPolicy([]), world)
    assert episode.ending is Ending.CAPTCHA
    assert f"https://site.test/ shows a captcha ({kind})" in episode.error
    assert episode.ending.is_infrastructure
    await world.close()


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", NONE)
async def test_a_page_without_one_is_not_said_to_have_one(world_of: MakeWorld, name: str) -> None:
    world = await world_of(NONE[name], None)
    page = await world.reset(TASK)
    assert "captcha (" not in page.outcome
    await world.close()


async def test_a_person_passes_it_and_the_episode_goes_on(world_of: MakeWorld) -> None:
    person = Person(passes=True)
    world = person.world = await world_of(INSTEAD["Cloudflare"], person)
    page = await world.reset(TASK)
    assert [node.name for node in page.nodes] == ["Welcome"]
    assert page.outcome == ""
    assert person.asked == [
        "the page shows a captcha (Cloudflare) instead of its content; only a person may pass it"
    ]
    await world.close()


async def test_the_time_a_person_takes_is_not_the_worlds(world_of: MakeWorld) -> None:
    person = Person(passes=True, seconds=3.5)
    world = person.world = await world_of(INSTEAD["Cloudflare"], person)
    policy = ScriptedPolicy(lambda trajectory, page: act.Answer("passed"))
    episode = await run_episode(TASK, policy, world, step_timeout=3)
    assert episode.ending is not Ending.WORLD_FAILED, episode.error
    assert len(person.asked) == 1
    await world.close()


async def test_a_person_who_cannot_pass_it_is_asked_once_and_the_episode_ends(world_of):
    person = Person(passes=False)
    world = await world_of(INSTEAD["DataDome"], person)
    with pytest.raises(CaptchaError, match="DataDome"):
        await world.reset(TASK)
    assert len(person.asked) == 1
    await world.close()


async def test_a_person_is_asked_once_about_a_captcha_in_a_form(world_of: MakeWorld) -> None:
    person = Person(passes=False)
    world = await world_of(IN_A_FORM["hCaptcha"], person)
    await world.reset(TASK)
    await world.step(act.Wait(10))
    assert len(person.asked) == 1
    await world.close()

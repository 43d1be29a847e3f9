"""Frames are part of the page: read where they stand, acted in, and never the end of a look."""

import functools
import time
from collections.abc import AsyncIterator, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser as Chrome
from playwright.async_api import async_playwright

from tasks.task import Task
from tests.fakes.listening import listening
from tests.local_pages import mark_of
from webagent.action import actions as act
from webagent.browser import BrowserWorld, find_chromium
from webagent.browser.chromium import has_sandbox
from webagent.browser.page.clock import clock_named
from webagent.browser.sessions.profile import Profile
from webagent.browser.tabs import Tabs
from webagent.observation import render

pytestmark = pytest.mark.browser

TOP = """
<title>Top</title><body style="margin: 0"><button>Before</button><br>
<iframe src="{host}middle.html" style="margin-left: 40px; border: 5px solid; width: 500px;
  height: 300px"></iframe><button>After</button>
"""
MIDDLE = """
<title>Middle</title><body style="margin: 0"><p>Middle text</p>
<iframe srcdoc="<title>Inner</title><body style='margin: 0'><button style='margin: 10px'
  onclick='this.textContent = `Pressed`'>Deep</button><input aria-label=Field><select
  aria-label=Choice><option>One<option>Two</select><input type=file aria-label=File>
  <div style='height: 3000px'></div><button onclick='this.textContent = `Reached`'>Far</button>"
  sandbox="allow-scripts" width=400 height=200></iframe>
"""
HANGING = """
<title>Stuck</title><p>Soon stuck</p><script>setTimeout(() => { for (;;); }, 700)</script>
"""


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder in silence."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages as files; every file is an origin of its own."""
    (tmp_path / "top.html").write_text(TOP.format(host=""))
    (tmp_path / "middle.html").write_text(MIDDLE)
    (tmp_path / "letter.txt").write_text("Dear reader")
    return tmp_path


@pytest.fixture
def port(folder: Path) -> Iterator[int]:
    """The same pages over HTTP."""
    handler = functools.partial(Handler, directory=str(folder))
    with listening(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield server.server_port


class Isolating:
    """Pages from a Chromium that gives every site a process of its own."""

    def __init__(self, chrome: Chrome) -> None:
        self.chrome = chrome

    async def open_tabs(self, task: Task, profile: Profile) -> Tabs:
        """A fresh context with one empty tab."""
        context = await self.chrome.new_context(viewport={"width": 900, "height": 600})
        return await Tabs.open(context, clock_named(task.clock), task.hooks.init)

    def renew(self, tabs: Tabs) -> None:
        """They are never taken back."""

    async def close_tabs(self, tabs: Tabs) -> None:
        """Close the context."""
        await tabs.context.close()


@pytest.fixture(scope="module")
async def isolating() -> AsyncIterator[BrowserWorld]:
    """A world in which frames of another site are in another process."""
    async with async_playwright() as playwright:
        chrome = await playwright.chromium.launch(
            executable_path=find_chromium().path,
            args=["--site-per-process"],
            chromium_sandbox=has_sandbox(),
        )
        world = BrowserWorld(Isolating(chrome))
        yield world
        await world.close()
        await chrome.close()


def page(url: str, **fields: Any) -> Task:
    """A task on this page."""
    return Task(id="page/frames@1", start_url=url, viewport=(900, 600), **fields)


SEEN = """\
[1] button "Before"
frame "Middle"
  Middle text
  frame "Inner"
    [3] button "Deep"
    [4] textbox "Field"
    [5] combobox "Choice" value="One"
      [6] option "One" selected
      [7] option "Two"
    [8] file "File"
    [9] button "Far"
[2] button "After\""""


async def test_frames_are_read_where_they_stand_at_any_depth(world, folder):
    seen = await world.reset(page((folder / "top.html").as_uri()))
    assert render(seen) == SEEN


async def test_boxes_in_frames_are_in_the_viewport_of_the_page(world, folder):
    seen = await world.reset(page((folder / "top.html").as_uri()))
    middle = next(node.box for node in seen.nodes if node.name == 'frame "Middle"')
    inner = next(node.box for node in seen.nodes if node.name == 'frame "Inner"')
    deep = next(node.box for node in seen.nodes if node.name == "Deep")
    assert middle[0] == 40
    assert inner[:1] == (45,)
    assert deep[:2] == (inner[0] + 2 + 10, inner[1] + 2 + 10)


async def test_every_action_finds_its_element_in_a_frame(world: BrowserWorld, folder: Path) -> None:
    seen = await world.reset(page((folder / "top.html").as_uri()))
    seen = await world.step(act.Click(mark_of(seen, "Deep")))
    assert mark_of(seen, "Pressed") == 3
    field = mark_of(seen, "Field")
    seen = await world.step(act.Fill(field, "some words"))
    filled = seen.node(field)
    assert filled is not None and filled.value == "some words" and seen.focus == field
    seen = await world.step(act.Press(field, "Backspace"))
    assert 'value="some word"' in render(seen)
    choice = mark_of(seen, "Choice")
    assert 'value="Two"' in render(await world.step(act.SelectOption(choice, "Two")))
    missing = await world.step(act.SelectOption(choice, "Three"))
    assert missing.outcome == f'element {choice} has no option "Three"'
    upload = act.UploadFile(mark_of(seen, "File"), str(folder / "letter.txt"))
    assert 'value="letter.txt"' in render(await world.step(upload))
    seen = await world.step(act.Scroll(field, 0, 300))
    assert seen.outcome == ""


async def test_what_is_far_down_in_a_frame_is_scrolled_to_and_clicked(world, folder):
    tall = TOP.format(host="").replace("<button>", "<div style='height: 2000px'></div><button>", 1)
    (folder / "top.html").write_text(tall)
    seen = await world.reset(page((folder / "top.html").as_uri()))
    seen = await world.step(act.Click(mark_of(seen, "Far")))
    assert mark_of(seen, "Reached") and seen.scroll[0] > 1000


async def test_what_lies_over_a_frame_is_named_or_gone_around(world, folder):
    cover = "<div id=cover style='position: fixed; inset: 0 0 0 {}px'></div>"
    (folder / "half.html").write_text(TOP.format(host="") + cover.format(70))
    (folder / "whole.html").write_text(TOP.format(host="") + cover.format(0))
    seen = await world.reset(page((folder / "half.html").as_uri()))
    assert mark_of(await world.step(act.Click(mark_of(seen, "Deep"))), "Pressed")
    seen = await world.reset(page((folder / "whole.html").as_uri()))
    mark = mark_of(seen, "Deep")
    outcome = (await world.step(act.Click(mark))).outcome
    assert outcome == f"element {mark} is in a frame that is covered by div#cover"


async def test_a_frame_that_is_taken_out_takes_its_elements_with_it(world, folder):
    remove = "<script>onkeydown = () => document.querySelector('iframe').remove()</script>"
    (folder / "top.html").write_text(TOP.format(host="") + remove)
    seen = await world.reset(page((folder / "top.html").as_uri()))
    deep = mark_of(seen, "Deep")
    seen = await world.step(act.Press(0, "a"))
    assert [node.name for node in seen.nodes] == ["Before", "After"]
    assert (await world.step(act.Click(deep))).outcome == f"no element {deep} on this page"


async def test_marks_are_never_used_twice_over_frames_and_pages(world, folder):
    first = await world.reset(page((folder / "top.html").as_uri()))
    second = await world.step(act.Goto((folder / "top.html").as_uri() + "?again"))
    old, new = ({node.mark for node in seen.nodes if node.mark} for seen in (first, second))
    assert len(old) == len(new) == 9 and not old & new


async def test_ten_frames_take_few_commands_and_none_takes_not_one_more(world, folder, commands):
    ten = "<button>Press</button>" + "<iframe src=leaf.html></iframe>" * 10
    (folder / "ten.html").write_text(ten)
    (folder / "leaf.html").write_text("<button>Leaf</button>")
    (folder / "none.html").write_text("<button>Press</button>")
    counts = {}
    for name in ("ten", "none"):
        seen = await world.reset(page((folder / f"{name}.html").as_uri()))
        assert sum(node.name == "Leaf" for node in seen.nodes) == (10 if name == "ten" else 0)
        commands.clear()
        await world.step(act.Click(mark_of(seen, "Press")))
        counts[name] = len(commands)
    assert counts["none"] <= 7
    assert counts["ten"] == counts["none"] + 10


@pytest.mark.parametrize("clock", ["real", "virtual"])
async def test_frames_of_other_processes_are_read_and_acted_in(isolating, folder, port, clock):
    (folder / "site.html").write_text(TOP.format(host=f"http://localhost:{port}/"))
    seen = await isolating.reset(page(f"http://127.0.0.1:{port}/site.html", clock=clock))
    assert render(seen) == SEEN
    seen = await isolating.step(act.Click(mark_of(seen, "Deep")))
    assert mark_of(seen, "Pressed") == 3
    field = mark_of(seen, "Field")
    filled = (await isolating.step(act.Fill(field, "words"))).node(field)
    assert filled is not None and filled.value == "words"
    far = mark_of(seen, "Far")
    assert mark_of(await isolating.step(act.Click(far)), "Reached") == far


async def test_a_frame_that_hangs_costs_its_own_content_only(isolating, folder, port):
    (folder / "middle.html").write_text(HANGING)
    (folder / "site.html").write_text(TOP.format(host=f"http://localhost:{port}/"))
    first = await isolating.reset(page(f"http://127.0.0.1:{port}/site.html", clock="real"))
    assert "Soon stuck" in render(first)
    await isolating.step(act.Wait(1000))
    started = time.monotonic()
    seen = await isolating.step(act.Click(mark_of(first, "After")))
    assert [node.name for node in seen.nodes] == ["Before", "frame does not answer", "After"]
    assert time.monotonic() - started < 3


async def test_frames_in_a_shadow_tree_are_told_apart(world: BrowserWorld, folder: Path) -> None:
    frames = "".join(f"<iframe srcdoc='<button>{name}</button>'></iframe>" for name in "AB")
    host = (
        f"<div id=host></div><script>host.attachShadow({{mode: 'closed'}}).innerHTML = `{frames}`"
    )
    (folder / "shadow.html").write_text(host + "</script>")
    seen = await world.reset(page((folder / "shadow.html").as_uri()))
    assert [node.name for node in seen.nodes] == ["frame", "A", "frame", "B"]
    assert (await world.step(act.Focus(mark_of(seen, "B")))).focus == mark_of(seen, "B")


@pytest.mark.parametrize("frame", ["editor.html", "around.html"])
async def test_only_one_element_of_a_page_and_its_frames_has_the_focus(world, folder, frame):
    editor = "<body contenteditable aria-label=Text>"
    (folder / "editor.html").write_text(f"{editor}<script>document.body.focus()</script>")
    (folder / "around.html").write_text("<input aria-label=Inner><iframe src=editor.html></iframe>")
    (folder / "two.html").write_text(f"<input aria-label=Title><iframe src={frame}></iframe>")
    seen = await world.reset(page((folder / "two.html").as_uri()))
    for name in ("Title", "Text", *(["Inner"] if frame == "around.html" else []), "Title"):
        seen = await world.step(act.Click(mark_of(seen, name)))
        assert [node.name for node in seen.nodes if "focused" in node.states] == [name]
        assert seen.focus == mark_of(seen, name)

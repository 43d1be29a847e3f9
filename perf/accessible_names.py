"""Whether our names and roles are those of Chromium's accessibility tree, and how long our text is.

    python perf/accessible_names.py [--cache FOLDER] [--pages 12] [--seed 0] [--source WORD]

Loads a sample of pages from every source of `corpus.py`. Role and name of each interactive element
that both sides see are compared with `Accessibility.getFullAXTree`, joined by backend node; names
by the standards alone, without what we add where they give none. The text of an observation is set
beside Playwright's aria snapshot of the page, at four characters a token.
"""

import argparse
import asyncio
import json
import statistics
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from corpus import Source, fetch, sample
from playwright.async_api import Error as PlaywrightError

from tasks.task import Task
from webagent.browser import Browser
from webagent.browser.page.tab import Tab
from webagent.browser.sessions.profile import Profile
from webagent.browser.tabs import Tabs
from webagent.errors import WorldError
from webagent.observation import render
from webagent.records import Observation

CACHE = Path.home() / ".cache" / "webagent" / "pages"
# Chromium's own words for roles that have no ARIA name, as ours.
ROLES = {
    "ColorWell": "colorpicker",
    "Date": "textbox",
    "DateTime": "textbox",
    "DisclosureTriangle": "button",
    "DisclosureTriangleGrouped": "button",
    "InputTime": "textbox",
    "ListBoxOption": "option",
    "MenuListOption": "option",
    "PopUpButton": "button",
    "ToggleButton": "button",
    "TextField": "textbox",
    "TextFieldWithComboBox": "combobox",
    "ComboBoxMenuButton": "combobox",
    "ComboBoxSelect": "combobox",
    "doc-backlink": "link",
    "doc-biblioref": "link",
    "doc-glossref": "link",
    "doc-noteref": "link",
}
INTERACTIVE = frozenset(
    """
    button checkbox colorpicker combobox file link listbox menuitem menuitemcheckbox menuitemradio
    option radio searchbox slider spinbutton switch tab textbox treeitem
    """.split()  # noqa: SIM905
)


@dataclass(slots=True)
class Tally:
    """What came of the pages so far."""

    compared: int = 0
    agreed: int = 0
    pages: int = 0
    wrong: list[str] = field(default_factory=list)
    classes: Counter[str] = field(default_factory=Counter)
    ours: list[int] = field(default_factory=list)
    theirs: list[int] = field(default_factory=list)


async def measure(sources: list[Source], pages: int, seed: int) -> dict[str, Tally]:
    """A tally for each source."""
    tallies: dict[str, Tally] = {}
    async with Browser() as browser:
        for source in sources:
            tally = tallies[source.name] = Tally()
            for page in sample(source, pages, seed):
                try:
                    await visit(browser, page, tally)
                except (WorldError, PlaywrightError) as error:
                    print(f"left out: {page} ({str(error).splitlines()[0]})")
    return tallies


async def visit(browser: Browser, page: Path, tally: Tally) -> None:
    """Load a page and compare."""
    task = Task(id="page/corpus@1", start_url=page.as_uri(), viewport=(1280, 720), clock="real")
    tabs = await browser.open_tabs(task, Profile())
    try:
        await tabs.start(task.start_url)
        await tabs.settle(0)
        await compare(tabs, page, tally)
    finally:
        await browser.close_tabs(tabs)


async def compare(tabs: Tabs, page: Path, tally: Tally) -> None:
    """Both sides' names and roles, and both texts."""
    tab = tabs.first
    view = await tab.view(ignore="", firstMark=1)
    ours = {number: said for number, said in await called(tab)}
    for node in await accessibility_tree(tab):
        mine = ours.get(node.get("backendDOMNodeId"))
        if mine is None or node.get("ignored"):
            continue
        role, name = said_by_chromium(node)
        if mine[0] in INTERACTIVE or role in INTERACTIVE:
            judge((mine[0], plain(mine[1])), (role, plain(name)), page, tally)
    text = render(Observation("", view.url, view.title, view.nodes, scroll=view.scroll))
    snapshot = await tab.page.locator("body").aria_snapshot()
    tally.pages += 1
    tally.ours.append(len(text) // 4)
    tally.theirs.append(len(snapshot) // 4)


async def called(tab: Tab) -> list[tuple[int, list[str]]]:
    """Backend node, and role and name by the standards, of every element that was marked."""
    said, numbers = await tab.ask_for_elements("called")
    return list(zip(numbers, json.loads(said), strict=True))


async def accessibility_tree(tab: Tab) -> list[dict[str, Any]]:
    """Chromium's nodes."""
    await tab.send("Accessibility.enable")
    nodes: list[dict[str, Any]] = (await tab.send("Accessibility.getFullAXTree"))["nodes"]
    return nodes


def said_by_chromium(node: dict[str, Any]) -> tuple[str, str]:
    """Role, in our words, and name."""
    role = str(node.get("role", {}).get("value", ""))
    return ROLES.get(role, role), str(node.get("name", {}).get("value", ""))


def plain(name: str) -> str:
    """A name without what nobody reads: white space of layout and letters of icon fonts."""
    letters = "".join(" " if 0xE000 <= ord(c) <= 0xF8FF or ord(c) >= 0xF0000 else c for c in name)
    return " ".join(letters.replace("\u200b", "").split())


def judge(mine: tuple[str, str], theirs: tuple[str, str], page: Path, tally: Tally) -> None:
    """Count one element."""
    tally.compared += 1
    if mine == theirs or (mine[0] == "file" and theirs[0] == "button"):
        tally.agreed += 1
        return
    kind = f"role {mine[0]} / {theirs[0]}" if mine[0] != theirs[0] else f"name of {mine[0]}"
    tally.classes[kind] += 1
    tally.wrong.append(f"{page.name}: ours {mine}, Chromium {theirs}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--pages", type=int, default=12, help="pages a source")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--source", default="", help="only sources with this word in their name")
    parser.add_argument("--examples", type=int, default=8, help="disagreements shown a source")
    chosen = parser.parse_args()
    sources = [each for each in fetch(chosen.cache) if chosen.source in each.name]
    show(asyncio.run(measure(sources, chosen.pages, chosen.seed)), chosen.examples)


def show(tallies: dict[str, Tally], examples: int) -> None:
    """A line for each source and one for all."""
    whole = Tally()
    for name, tally in tallies.items():
        show_one(name, tally)
        for wrong in tally.wrong[:examples]:
            print(f"    {wrong[:220]}")
        whole.compared += tally.compared
        whole.agreed += tally.agreed
        whole.pages += tally.pages
        whole.classes.update(tally.classes)
        whole.ours.extend(tally.ours)
        whole.theirs.extend(tally.theirs)
    show_one("all", whole)
    for kind, count in whole.classes.most_common():
        print(f"    {count:5d} {kind}")


def show_one(name: str, tally: Tally) -> None:
    """One line."""
    if not tally.pages:
        return
    print(
        f"{name:40s} {tally.pages:4d} pages {tally.agreed:6d} of {tally.compared:6d} agree"
        f" ({100 * tally.agreed / max(1, tally.compared):6.2f} %)  median tokens"
        f" {statistics.median(tally.ours):7.0f}"
        f" (aria snapshot {statistics.median(tally.theirs):7.0f})"
    )


if __name__ == "__main__":
    main()

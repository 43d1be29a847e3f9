"""Our accessible names beside those that the web-platform tests expect.

    git clone https://github.com/xi/aria-api
    python perf/expected_names.py aria-api/test/wpt.js

That file has the tests of accname, wai-aria, core-aam, html-aam and svg-aam. Counted are
interactive elements for which a test expects a name; Chromium's own name stands beside.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from accessible_names import INTERACTIVE, accessibility_tree, called, plain, said_by_chromium

from tasks.task import Task
from webagent.browser import Browser
from webagent.browser.page.source import PageSource
from webagent.browser.sessions.profile import Profile

_SUITE = re.compile(r'window\.wpt(?:\.|\[")([\w-]+)(?:"\])? = (\[.*?\n?\]);\n', re.DOTALL)


def read_tests(file: Path) -> list[dict[str, str]]:
    """Return the tests of every suite in the file."""
    suites = _SUITE.findall(file.read_text(encoding="utf-8"))
    return [test for _, listed in suites for test in json.loads(listed)]


async def compare(browser: Browser, path: Path, test: dict[str, str]) -> list[tuple[str, ...]]:
    """Return expected name, ours and Chromium's, and role, of each interactive element tested."""
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{test['html']}", encoding="utf-8")
    tabs = await browser.open_tabs(Task("page/names@1", path.as_uri()), Profile())
    try:
        await tabs.start(path.as_uri())
        tab = tabs.first
        await PageSource(tab, "", 1).members(mark_all=True)
        theirs = {
            node.get("backendDOMNodeId"): said_by_chromium(node)[1]
            for node in await accessibility_tree(tab)
        }
        found = []
        for number, (role, name, *_) in await called(tab):
            answer = await tab.send("DOM.describeNode", backendNodeId=number)
            expected = expected_name(test, answer["node"])
            if expected is not None and role in INTERACTIVE:
                found.append((plain(expected), plain(name), plain(theirs.get(number, "")), role))
        return found
    finally:
        await browser.close_tabs(tabs)


def expected_name(test: dict[str, str], node: dict[str, Any]) -> str | None:
    """Return the name that the test expects of an element; None where it expects none."""
    pairs: Iterator[str] = iter(node.get("attributes", ()))
    attributes = dict(zip(pairs, pairs, strict=True))
    if "data-expectedlabel" in attributes:
        is_meant = test["selector"] != ".ex" or "ex" in attributes.get("class", "").split()
        return attributes["data-expectedlabel"] if is_meant else None
    is_meant = test["selector"] == f"#{attributes.get('id')}"
    return test.get("name") if is_meant else None


async def measure(tests: list[dict[str, str]]) -> None:
    """Print how many names are as expected, and each that is not."""
    total = ours = chromiums = 0
    with tempfile.TemporaryDirectory() as folder:
        async with Browser() as browser:
            for test in tests:
                if "name" not in test and "data-expectedlabel" not in test["html"]:
                    continue
                path = Path(folder) / "page.html"
                for expected, mine, theirs, role in await compare(browser, path, test):
                    total += 1
                    ours += mine == expected
                    chromiums += theirs == expected
                    if mine != expected:
                        print(f"{test['filename']}: {role} {expected!r}, {mine!r}, {theirs!r}")
    print(f"{ours} of {total} as expected ({100 * ours / total:.1f} %), Chromium {chromiums}")


def main() -> None:
    """Read the tests and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    asyncio.run(measure(read_tests(parser.parse_args().file)))


if __name__ == "__main__":
    main()

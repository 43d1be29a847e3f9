"""Every state that the viewer can show, photographed at three widths and examined by axe-core.

    python perf/states.py --out FOLDER [--large FOLDER]

Makes runs that are under way, stopped, failed, abstained, answered and measured, one of them
and 1,000, serves them as a user does, and visits each page by phone, tablet and desktop, light and
dark. Writes PNG files and `states.json`: serious findings, pages wider than the window, errors in
the console, and what cannot be reached with the Tab key. `--large` is a folder of `perf/view.py`.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import axe_playwright_python
from PIL import Image, ImageDraw
from playwright.async_api import Page, async_playwright

if __name__ == "__main__":  # perf is installed nowhere
    sys.path.insert(0, str(Path(__file__).parents[1]))

from loop.folder import RunFolder
from tests.fakes.run import JUDGE, episode, fill, measure
from webagent.browser.chromium import find_chromium, has_sandbox
from webagent.records import Ending, Provenance, Score, Trajectory
from webagent.store import Store

AXE = Path(axe_playwright_python.__file__).parent / "axe.min.js"
WIDTHS = (390, 820, 1440)
_MOST = 10
"""Runs whose pages are visited."""
MEASURED = Provenance(phase="evaluate", arm="a")
RATES = {("none", 0): 0.3, ("control", 1): 0.4, ("self", 1): 0.6, ("self", 2): 0.8}
UNREACHED = """() => {
  const kinds = 'a[href], button, input:not([type=radio]), select, summary, textarea';
  const all = [...document.querySelectorAll(kinds)];
  const shown = each => each.checkVisibility() && !each.disabled && each.tabIndex >= 0;
  return all.filter(each => shown(each) && !window.reached.has(each)).map(e => e.outerHTML);
}"""


@dataclass(frozen=True)
class Asked:
    """Settings as the commands write them, as far as the viewer reads them."""

    task: str = ""
    benchmark: str = "miniwob"
    tasks: tuple[str, ...] = ("click-link",)
    resume: Path | None = None


def shot(text: str) -> bytes:
    """A small page as a picture."""
    image = Image.new("RGB", (160, 210), "white")
    ImageDraw.Draw(image).text((8, 8), text, fill="black")
    held = BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


def pictured(store: Store, whole: Trajectory) -> Trajectory:
    """The episode with a screenshot of every page."""
    steps = tuple(
        replace(
            one,
            observation=replace(
                one.observation, screenshot=store.images.add(shot(f"step {number}"))
            ),
        )
        for number, one in enumerate(whole.steps)
    )
    return replace(whole, steps=steps)


def task_run(runs: Path, name: str, ending: Ending, answer: str = "") -> None:
    """A run of one task that ended so."""
    asked = Asked(f"What does the {name} kayak cost?")
    folder = RunFolder.create(runs / name, asked, ["webagent", "run"])
    error = "" if answer else "http://127.0.0.1:1/v1 answered 500: CUDA out of memory"
    with folder.store() as store:
        whole = pictured(store, episode(Provenance(phase="run"), "buy", 1, True))
        store.add(replace(whole, ending=ending, error=error))
    told = {"outcome": ending, "answer": answer, "reason": error, "tokens": 1234, "cost": 0.5}
    folder.write_json("result.json", {**told, "currency": "EUR"})


def measured(runs: Path, name: str, verdicts: list[float | None], *, is_over: bool = True) -> None:
    """A measurement with these verdicts."""
    folder = RunFolder.create(runs / name, Asked(), ["webagent", "benchmark"])
    with folder.store() as store:
        for seed, value in enumerate(verdicts):
            place = replace(MEASURED, index=seed)
            if value is not None:
                measure(store, place, "click-link", seed, value == 1.0)
                continue
            whole = episode(place, "click-link", seed, True)
            store.add(whole)
            store.score(whole.id, Score("success", None, "the model saw no last page", JUDGE))
    if is_over:
        folder.write_json("result.json", {})


def make(folder: Path) -> None:
    """Runs in every state, and a folder of 1,000."""
    runs = folder / "states"
    task_run(runs, "answered", Ending.ANSWERED, "It costs 420")
    task_run(runs, "failed", Ending.MODEL_FAILED)
    task_run(runs, "lost", Ending.STEP_LIMIT)
    measured(runs, "one-episode", [1.0])
    measured(runs, "three-episodes", [1.0, 0.0, 1.0])
    measured(runs, "abstained", [None, None, None])
    measured(runs, "stopped", [1.0, 0.0], is_over=False)
    RunFolder.create(runs / "never-began", Asked(), ["webagent", "benchmark"])
    curve = RunFolder.create(runs / "improved", Asked(), ["webagent", "improve"])
    with curve.store() as store:
        fill(store, RATES)
    for number in range(1000):
        shutil.copytree(runs / "one-episode", folder / "thousand" / f"run-{number:03}")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The viewer of a folder, as a user starts it."""
    line = [sys.executable, "-m", "recipes.cli", "view", str(folder), "--json", "--no-open"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as viewer:
        assert viewer.stdout is not None
        yield json.loads(viewer.stdout.readline())["address"]
        viewer.terminate()


def pages_of(folder: Path) -> dict[str, str]:
    """Pages to visit by what they are called, one failed episode of each run among them."""
    found = {"runs": "/"}
    found_runs = sorted(folder.glob("*/run.json"))
    for run in found_runs if len(found_runs) <= _MOST else []:
        name = run.parent.name
        found |= {f"{name}": f"/run/{name}", f"{name}-tasks": f"/run/{name}/tasks"}
        found[f"{name}-episodes"] = f"/run/{name}/episodes"
        with Store.look(run.parent) as store:
            failed = [id for id, said in store.scores().items() if said[0].value == 0.0]
            ids = failed or store.ids("any")
        if ids:
            found[f"{name}-episode"] = f"/run/{name}/episode/{ids[0]}"
    if (folder / "improved").exists():
        found["compare"] = "/compare/runs?a=improved&b=three-episodes"
    return found


async def examine(page: Page, width: int) -> dict[str, Any]:
    """What is wrong with the page that is open; empty where nothing is."""
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    results = await page.evaluate("() => axe.run({resultTypes: ['violations']})")
    serious = [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}"
        for each in results["violations"]
        if each["impact"] in ("serious", "critical")
    ]
    wide = await page.evaluate("document.documentElement.scrollWidth")
    found: dict[str, Any] = {"axe": serious} if serious else {}
    return found | ({"wide": wide} if wide > width else {})


async def walk(page: Page) -> list[str]:
    """Press Tab as often as there are things to reach; return those that were not reached."""
    await page.evaluate("() => { window.reached = new Set(); document.body.focus(); }")
    count = await page.evaluate("document.querySelectorAll('a, button, input, select').length")
    for _ in range(count + 40):
        await page.keyboard.press("Tab")
        await page.evaluate("() => window.reached.add(document.activeElement)")
    return list(await page.evaluate(UNREACHED))


async def visit(folder: Path, out: Path) -> dict[str, Any]:
    """Photograph and examine all pages of a folder of runs; return what is wrong, by picture."""
    problems: dict[str, Any] = {}
    with served(folder) as address:
        root = "http://" + urlsplit(address).netloc
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=find_chromium(headless=True).path, chromium_sandbox=has_sandbox()
            )
            for theme in ("light", "dark"):
                context = await browser.new_context(color_scheme=theme, bypass_csp=True)
                page = await context.new_page()
                await page.goto(address)  # whose token opens what `--control` allows
                errors = list[str]()
                page.on("console", lambda said, to=errors: said.type == "error" and to.append(said))
                for name, path in pages_of(folder).items():
                    for width in WIDTHS if theme == "light" else WIDTHS[::2]:
                        await page.set_viewport_size({"width": width, "height": 900})
                        await page.goto(root + path, wait_until="load")
                        picture = f"{folder.name}-{name}-{theme}-{width}"
                        await page.screenshot(path=out / f"{picture}.png")
                        found = await examine(page, width)
                        if theme == "light" and width == WIDTHS[-1] and (left := await walk(page)):
                            found["unreached by Tab"] = left[:5]
                        if errors:
                            found["console"] = [str(each) for each in errors]
                            errors.clear()
                        if found:
                            problems[picture] = found
                await context.close()
            await browser.close()
    return problems


def main() -> int:
    """1 where anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="where the pictures go")
    parser.add_argument("--large", type=Path, help="a folder with a large run, of perf/view.py")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="states-") as folder:
        make(Path(folder))
        folders = [Path(folder) / name for name in ("states", "thousand")]
        folders += [given.large] if given.large else []
        problems: dict[str, Any] = {}
        for each in folders:
            problems |= asyncio.run(visit(each, given.out))
    text = json.dumps(problems, indent=1, ensure_ascii=False)
    (given.out / "states.json").write_text(text + "\n", encoding="utf-8")
    print(f"{len(list(given.out.glob('*.png')))} pictures, {len(problems)} with findings")
    print(text if problems else "nothing is wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

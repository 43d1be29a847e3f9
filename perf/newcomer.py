"""How long a newcomer takes: each step of README.md and docs/tutorial.md, timed, in a folder of its
own.

    python perf/newcomer.py                          # this checkout: all but set-up, demo and tests
    python perf/newcomer.py --clone --demo --tests   # a bare clone, with all of it

The model is a stand-in on this machine that answers at once, so that what is timed is ours. Prints
a table; writes `newcomer.json` with seconds, exit statuses and what was run into `--out`, and there
into `pictures` the viewer's pages at the widths of a phone, a tablet and a desktop.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FILES = ("--files", "mysite/tasks.jsonl", "--sites", "mysite/sites.toml")
NOTES = ("notes", "--files", "mysite/sites.toml")
SERVED = ("--policy", "endpoint", "--model", "small-1")
WIDTHS = (390, 820, 1440)
FIVE_LINES = """
from webagent import Agent

agent = Agent("small-1")
result = agent.run_sync('Add the note "buy bread".', url="http://127.0.0.1:8123/")
print(result.answer, result.ending, result.cost)
assert str(result.ending) == "answered", result
"""
TRAINED_BY_TRL = """
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

given = dict(max_length=4096, use_cpu=True, bf16=False, report_to=[], save_strategy="no")
trainer = SFTTrainer(
    "weights",
    args=SFTConfig("trl", max_steps=3, per_device_train_batch_size=1, **given),
    train_dataset=load_dataset("exported", split="train"),
)
trainer.train()
trainer.save_model("trl/model")
"""


@dataclass(frozen=True, slots=True)
class Step:
    """Something a newcomer does, and how long it took."""

    name: str
    command: str
    seconds: float
    status: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is done: the checkout, the folder of runs, and what is told to every command."""

    checkout: Path
    folder: Path
    environment: dict[str, str]

    def webagent(self, *words: str) -> list[str]:
        """The command, by the checkout's own Python where set-up made one."""
        own = self.checkout / ".venv/bin/python"
        return [str(own if own.exists() else sys.executable), "-m", "recipes.cli", *words]


def timed(name: str, line: Sequence[str], place: Place, where: Path | None = None) -> Step:
    """Run a command to its end; what it says goes to a file beside the runs."""
    shown = " ".join(line).replace(f"{place.checkout}/", "")
    print(f"{name}: {shown}", file=sys.stderr)
    begun = time.monotonic()
    with (place.folder / "said.txt").open("a") as said:
        done = subprocess.run(
            line, cwd=where or place.folder, env=place.environment, stdout=said, stderr=said
        )
    return Step(name, shown, round(time.monotonic() - begun, 1), done.returncode)


def opened(place: Place, runs: str, out: Path) -> Iterator[Step]:
    """From the command of the viewer to its first page, and then to a picture of every page."""
    line = place.webagent("view", runs, "--json")
    begun = time.monotonic()
    with subprocess.Popen(
        line, cwd=place.folder, env=place.environment, stdout=subprocess.PIPE, text=True
    ) as viewer:
        assert viewer.stdout is not None
        said = next((line for line in viewer.stdout if "http://" in line), "")
        address = next(iter(re.findall(r"http://[^\s\"]+", said)), "")
        status = _fetched(address) if address else 1
        yield Step("the viewer opens", " ".join(line[1:]), _since(begun), status)
        begun = time.monotonic()
        count, broken = asyncio.run(photograph(address, out / "pictures"))
        name = f"{count} pages photographed at {len(WIDTHS)} widths"
        yield Step(name, " ".join(broken) or "every page came", _since(begun), int(bool(broken)))
        viewer.terminate()


def _since(begun: float) -> float:
    return round(time.monotonic() - begun, 1)


async def photograph(address: str, folder: Path) -> tuple[int, list[str]]:
    """Photograph the list of runs and of each run its pages and first episode, at every width.

    Returns how many pages there are, and those that failed or wrote errors into the console.
    """
    from playwright.async_api import async_playwright

    from webagent.browser.chromium import find_chromium, has_sandbox

    folder.mkdir(parents=True, exist_ok=True)
    todo, seen, broken = [address], set[str](), list[str]()
    async with async_playwright() as playwright:
        path = str(find_chromium(headless=True).path)
        browser = await playwright.chromium.launch(
            executable_path=path, chromium_sandbox=has_sandbox()
        )
        page = await browser.new_page()
        page.on("console", lambda said: said.type == "error" and broken.append(said.text))
        while todo:
            url = todo.pop(0)
            seen.add(url)
            reply = await page.goto(url, wait_until="load")
            if reply is None or not reply.ok:
                broken.append(url)
            name = re.sub(r"[^\w-]+", "-", url.removeprefix(address)).strip("-") or "runs"
            for width in WIDTHS:
                await page.set_viewport_size({"width": width, "height": 900})
                await page.screenshot(path=folder / f"{name}-{width}.png")
            todo += [link for link in await _links(page, address) if link not in {*seen, *todo}]
        await browser.close()
    return len(seen), broken


async def _links(page: Any, address: str) -> list[str]:
    """Return the runs that a page links, their pages, and the first of their episodes."""
    script = "[...document.links].map(link => link.href.split('#')[0])"
    found = list(dict.fromkeys(await page.evaluate(script)))
    shape = re.compile(re.escape(address.rstrip("/")) + r"/run/[^/?]+(/tasks|/episodes)?$")
    episodes = [link for link in found if re.search(r"/run/[^/?]+/episode/[^/?]+$", link)]
    is_list = page.url.endswith("/episodes")
    return [link for link in found if shape.match(link)] + episodes[: int(is_list)]


def _fetched(address: str) -> int:
    """0 when the page comes."""
    for _ in range(100):
        try:
            with urlopen(address, timeout=10) as reply:
                return 0 if reply.status == 200 else 1
        except URLError:
            time.sleep(0.05)
    return 1


@contextmanager
def stand_in() -> Iterator[str]:
    """The address of a model's server on this machine."""
    from perf.fakes.chat_server import click, serving

    with serving(click) as server:
        yield server.url


def walked(place: Place, options: argparse.Namespace) -> Iterator[Step]:
    """README and tutorial, step by step."""
    go = place.webagent
    if options.clone:
        line = ["git", "clone", "-q", str(ROOT), str(place.checkout)]
        yield timed("clone", line, place, place.folder)
        yield timed("set-up", [str(place.checkout / "scripts/setup")], place)
    yield timed("help", go("--help"), place)
    yield timed("doctor", go("doctor"), place)
    first = go("benchmark", "--tasks", "click-test", "login-user", "--seeds", "2")
    yield timed("a first run", [*first, "--name", "first"], place)
    yield timed("the same again, replayed", go("replay", "runs/first", "--name", "again-1"), place)
    if options.demo:
        yield timed("the demo", [str(place.checkout / "scripts/demo"), "--name", "demo"], place)
    if options.tests:
        yield timed("the tests", [str(place.checkout / "scripts/test")], place)
    yield timed("its page again", go("report", "runs/first"), place)
    yield timed("why it failed", go("attribute", "runs/first"), place)
    yield from own_site(place)
    yield from improved(place)
    yield from opened(place, "runs", options.out)


def own_site(place: Place) -> Iterator[Step]:
    """A site of one's own, a model of one's own on it, and a starter."""
    go = place.webagent
    shutil.copytree(place.checkout / "docs/example", place.folder / "mysite")
    yield timed("own site", go("site", "check", *NOTES), place)
    own = go("benchmark", "proposed", *FILES, *SERVED)
    yield timed("what would be played", [*own, "--preview"], place)
    yield timed("the model is asked", go("doctor", "--model", "small-1"), place)
    yield timed("own site starts", go("site", "start", *NOTES, "--port", "8123", "--detach"), place)
    live = go("run", 'Add the note "buy milk".', "--url", "http://127.0.0.1:8123/")
    yield timed("own model, live", [*live, "--model", "small-1", "--name", "live"], place)
    yield timed("the episode as text", go("show", "runs/live"), place)
    yield timed("five lines of Python", [go()[0], "-c", FIVE_LINES], place)
    yield timed("own site stops", go("site", "stop", *NOTES), place)
    yield timed("a starter", go("init", "--folder", "starter", "--model", "small-1"), place)


def improved(place: Place) -> Iterator[Step]:
    """The model measured, told what it learnt and measured again; weights taught by what it did."""
    go = place.webagent
    own = go("benchmark", "proposed", *FILES, *SERVED)
    yield timed("own model on own site", [*own, "--name", "own"], place)
    practice = [*own, "--split", "train", "--seeds", "4", "--temperature", "1"]
    yield timed("practice", [*practice, "--name", "practice"], place)
    yield timed("learn", go("learn", "runs/practice", "--model", "small-1"), place)
    yield timed(
        "with site memory", [*own, "--site-memory", "site-memory", "--name", "again"], place
    )
    line = ["export", "runs/practice", "--to", "trl", "--what", "sft", "--out", "exported"]
    yield timed("for other trainers", go(*line), place)
    make = "from pathlib import Path; from perf.fakes.tiny_models import causal"
    yield timed("tiny weights", [go()[0], "-c", f"{make}; causal(Path('weights'))"], place)
    taught = ["train", "--runs", "runs/practice", "--model", "weights", "--lora", "16"]
    yield timed("weights taught", go(*taught, "--out", "trained"), place)
    weights = ["benchmark", "proposed", *FILES, "--policy", "local:trained/model"]
    yield timed("weights measured", go(*weights, "--name", "taught"), place)
    yield timed("taught by TRL", [go()[0], "-c", TRAINED_BY_TRL], place)
    weights[-1] = "local:trl/model"
    yield timed("TRL's weights measured", go(*weights, "--name", "taught-by-trl"), place)


def main(argv: Sequence[str] | None = None) -> int:
    """0 when every step went well."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clone", action="store_true", help="begin with a bare clone and set-up")
    parser.add_argument("--demo", action="store_true", help="run the demo, which takes minutes")
    parser.add_argument("--tests", action="store_true", help="run the default tests as well")
    parser.add_argument("--out", type=Path, default=Path(), help="where newcomer.json goes")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder, stand_in() as address:
        checkout = Path(folder) / "webagent" if options.clone else ROOT
        told = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1"}
        environment = {**os.environ, **told, "PYTHONPATH": str(checkout)}
        steps = list(walked(Place(checkout, Path(folder), environment), options))
        if any(step.status for step in steps):
            print((Path(folder) / "said.txt").read_text()[-3000:], file=sys.stderr)
    return _tell(steps, options.out)


def _tell(steps: Sequence[Step], out: Path) -> int:
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    facts = {
        "command": ["python", "perf/newcomer.py", *sys.argv[1:]],
        "commit": commit.stdout.strip(),
        "machine": f"{os.cpu_count()} processors, {platform.platform()}",
        "load": round(os.getloadavg()[0], 1),
        "steps": [asdict(step) for step in steps],
        "seconds": round(sum(step.seconds for step in steps), 1),
    }
    (out / "newcomer.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print("| step | seconds | status |\n| --- | --- | --- |")
    for step in steps:
        print(f"| {step.name} | {step.seconds} | {step.status} |")
    print(f"| all | {facts['seconds']} | load {facts['load']} |")
    return 1 if any(step.status for step in steps) else 0


if __name__ == "__main__":
    sys.exit(main())

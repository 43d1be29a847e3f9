"""The first hour of a newcomer: every command of README.md and docs/tutorial.md, run as typed.

    python perf/newcomer.py                          # with this checkout's environment
    python perf/newcomer.py --clone --demo --tests   # a bare clone, with all of it

The commands are read from the pages, so that none is forgotten, and run in a home folder that is
empty. Between them stands what the pages only mention: the episode as text, the README's Python, a
starter, an export to TRL. The model is a stand-in on this machine that answers at once, so that
what is timed is ours. Prints a table; writes `newcomer.json` with seconds, longest silences, exit
statuses and what was run into `--out`, what was printed into `said.txt`, and into `pictures` the
viewer's pages at the widths of a phone, a tablet and a desktop. Fails where a command fails or is
silent for longer than people wait.
"""

import argparse
import asyncio
import json
import os
import platform
import re
import shlex
import signal
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
PAGES = ("README.md", "docs/tutorial.md")
SITE = "http://127.0.0.1:8123/"
WORDS = {"ADDRESS": str(ROOT), "NAME": "small-1", "FOLDER": "weights"}
"""What stands for the words that a reader fills in."""
WIDTHS = (390, 820, 1440)
MOST_SILENCE = 5.0
"""Seconds after which people think that a command hangs."""
TINY_WEIGHTS = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.fakes.tiny_models import causal
causal(Path("weights"))
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

    command: str
    seconds: float
    status: int
    silence: float = 0.0
    """Longest time, in seconds, in which nothing was printed."""


class Terminal:
    """A shell's folder and variables, and a file of all that was printed."""

    def __init__(self, folder: Path, out: Path, is_clone: bool) -> None:
        """Start in `folder` with an empty home and, without a clone, this checkout's programs."""
        self.folder, self.out, self.is_clone = folder, out, is_clone
        self.said = out / "said.txt"
        (folder / "home").mkdir()
        base = os.environ["PATH"]
        # pyenv's stand-ins look for the interpreters in the home folder, which is empty here.
        first = Path(sys.executable).resolve() if is_clone else Path(sys.executable)
        left_out = re.compile(r"XDG_|WEBAGENT_|VIRTUAL_ENV|\w+_API_KEY|PYTHON")
        kept = {name: value for name, value in os.environ.items() if not left_out.match(name)}
        home = {"HOME": str(folder / "home"), "PATH": f"{first.parent}:{base}"}
        self.environment = {**kept, **home, "NO_PROXY": "127.0.0.1,localhost"}
        if not is_clone:
            (folder / "docs").symlink_to(ROOT / "docs")

    def run(self, line: Sequence[str]) -> Step:
        """Run a command to its end, and measure how long it printed nothing."""
        shown = shlex.join(line).replace(str(ROOT), ".")
        print(shown, file=sys.stderr, flush=True)
        begun = printed = time.monotonic()
        silence = 0.0
        with self.said.open("ab") as said:
            said.write(f"\n$ {shown}\n".encode())
            with subprocess.Popen(
                line,
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            ) as process:
                assert process.stdout is not None
                while part := os.read(process.stdout.fileno(), 65536):
                    said.write(part)
                    silence = max(silence, time.monotonic() - printed)
                    printed = time.monotonic()
        silence = round(max(silence, time.monotonic() - printed), 1)
        name = shown.partition("\n")[0][:120]
        return Step(name, _since(begun), process.returncode, silence)

    def view(self, line: Sequence[str]) -> Iterator[Step]:
        """Start the viewer, wait for its first page, photograph all pages, press Ctrl-C."""
        begun = time.monotonic()
        with subprocess.Popen(
            line, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        ) as viewer:
            assert viewer.stdout is not None
            said = next((line for line in viewer.stdout if "http://" in line), "")
            address = next(iter(re.findall(r"http://[^\s\"]+", said)), "")
            yield Step(shlex.join(line), _since(begun), _fetched(address) if address else 1)
            begun = time.monotonic()
            pictures = self.out / "pictures" / line[-1].replace("/", "-")
            count, broken = asyncio.run(photograph(address, pictures))
            name = f"# {count} pages at {len(WIDTHS)} widths {' '.join(broken)}"
            yield Step(name.rstrip(), _since(begun), int(bool(broken)))
            begun = time.monotonic()
            viewer.send_signal(signal.SIGINT)
            yield Step("# Ctrl-C ends the viewer", _since(begun), viewer.wait(30))


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
    from tests.fakes.chat_server import click, serving

    with serving(click) as server:
        yield server.url


def walked(terminal: Terminal, options: argparse.Namespace, model: str) -> Iterator[Step]:
    """The commands of the pages in their order, each once, and what belongs between them."""
    from perf.documentation import commands

    left_out = {"scripts/test": not options.tests, "scripts/demo": not options.demo}
    done = {line for line, is_out in left_out.items() if is_out}
    found = [each for page in PAGES[::-1] for each in commands(ROOT / page)]
    for words in ([WORDS.get(word, word) for word in each.argv] for each in found):
        line = shlex.join(words)
        if line in done or (not options.clone and words[0] in ("git", "cd", "scripts/setup")):
            continue
        done.add(line)
        if words[0] == "cd":
            terminal.folder /= words[1]
        elif words[0] == "source":
            path = f"{terminal.folder / Path(words[1]).parent}:{terminal.environment['PATH']}"
            terminal.environment["PATH"] = path if options.clone else terminal.environment["PATH"]
        elif words[0] == "export":
            name, _, value = words[1].partition("=")
            terminal.environment[name] = model if name == "OPENAI_BASE_URL" else value
        elif words[:2] == ["webagent", "view"]:
            yield from terminal.view(words)
        else:
            yield from before(terminal, words)
            yield terminal.run(words)
            yield from after(terminal, words)
    yield from terminal.view(["webagent", "view", "runs"])


def before(terminal: Terminal, words: Sequence[str]) -> Iterator[Step]:
    """What a command of the pages takes for given."""
    if words[:2] == ["webagent", "run"]:
        yield terminal.run(["webagent", "doctor", "--model", "small-1"])
    if words[:2] == ["webagent", "train"]:
        yield terminal.run(["python", "-c", TINY_WEIGHTS.format(root=str(ROOT))])


def after(terminal: Terminal, words: Sequence[str]) -> Iterator[Step]:
    """What the pages mention behind a command without a line of its own."""
    text = shlex.join(words)
    if words[:2] == ["webagent", "doctor"]:
        yield terminal.run(["webagent", "--help"])
        yield terminal.run(["webagent", "benchmark", "--help"])
    if words[:2] == ["webagent", "run"]:
        run = max((terminal.folder / "runs").glob("run-*")).name
        for flags in ([], ["--step", "1", "--raw"]):
            yield terminal.run(["webagent", "show", f"runs/{run}", *flags])
        yield terminal.run(["python", "-c", _python_of_readme()])
        # One folder up stands a folder named webagent, which must not be taken for the package.
        above = ["python", "-c", "import os; os.chdir('..'); from webagent import Agent"]
        yield terminal.run(above)
        yield terminal.run(["webagent", "init", "--folder", "starter", "--model", "small-1"])
    if "--name practice" in text:
        export = "export runs/practice --to trl --what sft --out exported"
        yield terminal.run(["webagent", *export.split()])
    if text.endswith("local:trained/model"):
        yield terminal.run(["python", "-c", TRAINED_BY_TRL])
        yield terminal.run([*words[:-1], "local:trl/model"])


def _python_of_readme() -> str:
    """Return the README's lines of Python, with a model and a site of this machine."""
    from perf.documentation import blocks

    (code,) = (each.text for each in blocks(ROOT / "README.md") if each.language == "python")
    code = code.replace("NAME", WORDS["NAME"]).replace("https://shop.example/", SITE)
    return code + "assert str(result.ending) == 'answered', result\n"


def main(argv: Sequence[str] | None = None) -> int:
    """0 when every step went well, and none was silent for longer than people wait."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clone", action="store_true", help="begin with a bare clone and set-up")
    parser.add_argument("--demo", action="store_true", help="run the demo, which takes minutes")
    parser.add_argument("--tests", action="store_true", help="run the default tests as well")
    parser.add_argument("--out", type=Path, default=Path(), help="where newcomer.json goes")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder, stand_in() as model:
        terminal = Terminal(Path(folder), options.out.resolve(), options.clone)
        steps = list(walked(terminal, options, model))
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
    print("| command | seconds | longest silence | status |\n| --- | --- | --- | --- |")
    for step in steps:
        print(f"| {step.command} | {step.seconds} | {step.silence} | {step.status} |")
    print(f"| all | {facts['seconds']} | | load {facts['load']} |")
    # What a Python program of other packages prints is not ours.
    silent = [s for s in steps if s.silence > MOST_SILENCE and not s.command.startswith("python")]
    return 1 if silent or any(step.status for step in steps) else 0


if __name__ == "__main__":
    sys.exit(main())

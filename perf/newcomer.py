"""How long a newcomer takes: each step of docs/tutorial.md, timed, in a folder of its own.

    python perf/newcomer.py                   # this checkout: all but set-up and demo
    python perf/newcomer.py --clone --demo    # a bare clone, with set-up and demo

The model is a stand-in on this machine that answers at once, so that what is timed is ours. Prints
a table, and writes `newcomer.json` with seconds, statuses and what was run into `--out`.
"""

import argparse
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
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FILES = ("--files", "mysite/tasks.jsonl", "--sites", "mysite/sites.toml")
NOTES = ("notes", "--files", "mysite/sites.toml")
SERVED = ("--policy", "endpoint", "--model", "small-1")


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


def opened(place: Place, run: str) -> Step:
    """From the command of the viewer to its first page, and the same again for a run's page."""
    line = place.webagent("view", run, "--json")
    begun = time.monotonic()
    with subprocess.Popen(
        line, cwd=place.folder, env=place.environment, stdout=subprocess.PIPE, text=True
    ) as viewer:
        assert viewer.stdout is not None
        address = next(iter(re.findall(r"http://[^\s\"]+", _until_address(viewer.stdout))), "")
        status = _fetched(address) if address else 1
        seconds = round(time.monotonic() - begun, 1)
        viewer.terminate()
    return Step("the viewer opens", " ".join(line[1:]), seconds, status)


def _until_address(lines: Iterator[str]) -> str:
    return next((line for line in lines if "http://" in line), "")


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
    """The tutorial, step by step."""
    go = place.webagent
    if options.clone:
        yield timed(
            "clone", ["git", "clone", "-q", str(ROOT), str(place.checkout)], place, place.folder
        )
        yield timed("set-up", [str(place.checkout / "scripts/setup")], place)
    yield timed("doctor", go("doctor"), place)
    first = go("benchmark", "--tasks", "click-test", "login-user", "--seeds", "2")
    yield timed("a first run", [*first, "--name", "first"], place)
    yield timed("the same again, replayed", go("replay", "runs/first"), place)
    if options.demo:
        yield timed("the demo", go("improve", "--preset", "demo", "--name", "demo"), place)
    yield timed("why it failed", go("attribute", "runs/first"), place)
    if _has(place, "view"):
        yield opened(place, "runs/first")
    shutil.copytree(place.checkout / "docs/example", place.folder / "mysite")
    yield timed("own site", go("site", "check", *NOTES), place)
    yield timed("own site starts", go("site", "start", *NOTES, "--port", "8123", "--detach"), place)
    live = go("run", 'Add the note "buy milk".', "--url", "http://127.0.0.1:8123/")
    yield timed("own model, live", [*live, "--model", "small-1"], place)
    yield timed("own site stops", go("site", "stop", *NOTES), place)
    own = go("benchmark", "proposed", *FILES, *SERVED)
    yield timed("own model on own site", [*own, "--name", "own"], place)
    practice = [*own, "--split", "train", "--seeds", "4", "--temperature", "1"]
    yield timed("practice", [*practice, "--name", "practice"], place)
    yield timed("learn", go("learn", "runs/practice", "--model", "small-1"), place)
    yield timed("again", [*own, "--hints", "hints", "--name", "again"], place)


def _has(place: Place, recipe: str) -> bool:
    line = place.webagent(recipe, "--help")
    done = subprocess.run(line, env=place.environment, cwd=place.folder, capture_output=True)
    return done.returncode == 0


def main(argv: Sequence[str] | None = None) -> int:
    """0 when every step went well."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clone", action="store_true", help="begin with a bare clone and set-up")
    parser.add_argument("--demo", action="store_true", help="run the demo, which takes minutes")
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

"""Two applications from PyPI as sites of one's own, worked by a script that reads observations.

    python perf/applications.py [--clock virtual|real|both] [--only TEXT] [--folder FOLDER]

Trac and Roundup are installed into environments of their own below the folder and described by
perf/applications/sites.toml as docs/sites.md tells; the tasks in tasks.toml are checked in the
applications' databases.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
# perf is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

from benchmarks.sites.described import FILES_VARIABLE  # noqa: E402
from benchmarks.sites.hosting import Hosting  # noqa: E402
from perf.step_language import take_steps  # noqa: E402
from tasks.task import Task  # noqa: E402
from webagent.browser import Browser  # noqa: E402
from webagent.errors import WebAgentError  # noqa: E402

HERE = Path(__file__).parent / "applications"
PACKAGES = {"trac": ("Trac==1.6", "setuptools<75"), "roundup": ("roundup==2.6.0",)}


def install(folder: Path) -> Path:
    """Install what is not there yet; return the description of the sites."""
    for name, packages in PACKAGES.items():
        if not (folder / name).is_dir():
            venv.create(folder / name, with_pip=True)
            python = folder / name / "bin" / "python"
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    sites = folder / "sites"
    shutil.copytree(HERE, sites, dirs_exist_ok=True)
    described = (HERE / "sites.toml").read_text(encoding="utf-8").replace("VENVS", str(folder))
    (sites / "sites.toml").write_text(described, encoding="utf-8")
    return sites / "sites.toml"


def read_tasks(part: str, clock: str) -> list[tuple[Task, dict[str, Any]]]:
    """Return the tasks whose name contains the part, each as it is described."""
    text = (HERE / "tasks.toml").read_text(encoding="utf-8")
    return [
        (
            Task(
                f"{each['name'].split('/')[0]}/{each['name'].split('/')[1]}@1",
                each["start"],
                each["goal"],
                clock=clock,
                site=f"{each['name'].split('/')[0]}@1",
                login=each.get("login", ""),
                queries={"found": each["query"]} if "query" in each else {},
                evidence={"found": each["evidence"]} if "evidence" in each else {},
            ),
            each,
        )
        for each in tomllib.loads(text)["task"]
        if part in each["name"]
    ]


async def play(tasks: list[tuple[Task, dict[str, Any]]], files: Path) -> int:
    """Play the tasks one after the other; return how many were done."""
    done = 0
    async with Hosting(concurrency=1) as hosting, Browser() as browser:
        await hosting.prepare([task for task, _ in tasks])
        world = await hosting.worlds(partial(browser.world, logins=hosting.logins))()
        for task, described in tasks:
            try:
                failure = await take_steps(world, await world.reset(task), described["do"], files)
                found = dict(await world.evidence(task)).get("found")
            except WebAgentError as error:
                failure, found = str(error), None
            is_done = not failure and found == described.get("rows", True)
            done += is_done
            print(f"{'done' if is_done else 'NOT '} {task.clock:8} {described['name']}")
            if not is_done:
                print(failure or f"found {found}")
        await world.close()
    return done


def main() -> None:
    """Install, play and print the share that was done."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clock", choices=("virtual", "real", "both"), default="both")
    parser.add_argument("--only", default="")
    default = Path(tempfile.gettempdir()) / "webagent-applications"
    parser.add_argument("--folder", type=Path, default=default)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    os.environ[FILES_VARIABLE] = str(install(chosen.folder))
    clocks = ["virtual", "real"] if chosen.clock == "both" else [chosen.clock]
    files = chosen.folder / "files"
    files.mkdir(exist_ok=True)
    (files / "notes.txt").write_text("Two coats of white.\n", encoding="utf-8")
    played = [task for clock in clocks for task in read_tasks(chosen.only, clock)]
    done = asyncio.run(play(played, files))
    print(f"\n{done} of {len(played)} done ({100 * done / max(1, len(played)):.1f} %)")


if __name__ == "__main__":
    main()

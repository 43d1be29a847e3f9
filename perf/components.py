"""Components of published libraries, worked by a script that knows only what an observation says.

    python perf/components.py [--clock virtual|real|both] [--only TEXT] [--cache FOLDER] [--show]

Each demo in perf/components/*.toml is a page of one library's own component, what is to be done
with it in steps (`step_language`), and a JavaScript expression that is true once it was
done. Elements are named by role and name as the observation has them, places by the boxes it gives.
The packages come from the npm registry and are kept in the cache.
"""

import argparse
import asyncio
import functools
import http.server
import json
import sys
import tarfile
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen

ROOT = Path(__file__).parent.parent
# perf is installed nowhere: this checkout must be found first.
sys.path.insert(0, str(ROOT))

from perf.step_language import take_steps  # noqa: E402
from tasks.task import Task  # noqa: E402
from webagent.browser import Browser, BrowserWorld  # noqa: E402
from webagent.errors import WebAgentError  # noqa: E402

CACHE = Path(tempfile.gettempdir()) / "webagent-components"
HERE = Path(__file__).parent / "components"


@dataclass(frozen=True, slots=True)
class Demo:
    """A page with a component, what to do there, and how to tell that it was done."""

    name: str
    kind: str
    """Of what the page is an example: the file it stands in."""
    use: tuple[str, ...]
    """Scripts and style sheets: the package's name and the path in it."""
    body: str
    done: str
    """JavaScript expression."""
    do: tuple[str, ...]
    """Steps, in the language of `step_language`."""

    @property
    def page(self) -> str:
        """The page as HTML."""
        tags = (
            f'<link rel=stylesheet href="/npm/{path}">'
            if path.endswith(".css")
            else f'<script{_kind_of(path)} src="/npm/{path}"></script>'
            for path in self.use
        )
        head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{self.name}</title>"
        return f"{head}{''.join(tags)}<body>{self.body}"


def _kind_of(path: str) -> str:
    return " type=module" if path.startswith(("@shoelace-style/", "@fluentui/")) else ""


def read_demos(part: str = "") -> list[Demo]:
    """Return the demos whose name contains the part."""
    return [
        Demo(
            each["name"],
            file.stem,
            tuple(each["use"]),
            each["body"],
            each["done"],
            tuple(each["do"]),
        )
        for file in sorted(HERE.glob("*.toml"))
        for each in tomllib.loads(file.read_text(encoding="utf-8")).get("demo", ())
        if part in each["name"]
    ]


_FETCHING = threading.Lock()


def fetch(package: str, version: str, cache: Path) -> Path:
    """Return the folder of a package of the npm registry, unpacked at the first call."""
    folder = cache / package.replace("/", "+") / version
    with _FETCHING:  # a page asks for several files of a package at once
        if folder.is_dir():
            return folder
        url = f"https://registry.npmjs.org/{package}/-/{package.split('/')[-1]}-{version}.tgz"
        with urlopen(url, timeout=120) as answer:
            packed = BytesIO(answer.read())
        with tempfile.TemporaryDirectory(dir=cache) as fresh, tarfile.open(fileobj=packed) as files:
            files.extractall(fresh, filter="data")
            folder.parent.mkdir(exist_ok=True)
            next(Path(fresh).iterdir()).rename(folder)
    return folder


def package_of(path: str) -> str:
    """Return the package that a path of a demo begins with."""
    return "/".join(path.split("/")[: 2 if path.startswith("@") else 1])


def read_versions() -> dict[str, str]:
    """Return the version of every package that is used."""
    return dict(json.loads((HERE / "packages.json").read_text(encoding="utf-8")))


@contextmanager
def serve(demos: list[Demo], cache: Path) -> Iterator[str]:
    """Serve the demos' pages and their packages on this machine; yield the address."""
    versions = read_versions()
    pages = {f"/{index}": demo.page for index, demo in enumerate(demos)}

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path: str) -> str:
            name = path.partition("/npm/")[2].partition("?")[0]
            package = package_of(name)
            if package not in versions:
                return str(cache / "missing")
            return str(fetch(package, versions[package], cache) / name[len(package) + 1 :])

        def do_GET(self) -> None:
            if self.path not in pages:
                return super().do_GET()
            page = pages[self.path].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)
            return None

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


async def play(world: BrowserWorld, demo: Demo, url: str, clock: str, files: Path) -> str:
    """Return why the demo was not done; empty where it was."""
    task = Task(f"perf/{demo.name}@1", url, demo.name, clock=clock, evidence={"done": demo.done})
    page = await world.reset(task)
    if failure := await take_steps(world, page, demo.do, files):
        return failure
    evidence = await world.evidence(task)
    return "" if evidence.get("done") is True else f"not done: {evidence}"


async def measure(demos: list[Demo], clocks: list[str], cache: Path, show: bool) -> dict[str, Any]:
    """Play every demo on every clock; return the reasons of those that were not done."""
    failures: dict[str, Any] = {}
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, serve(demos, cache) as address:
        files = Path(folder)
        (files / "notes.txt").write_text("Milk and bread\n", encoding="utf-8")
        async with Browser() as browser:
            for index, demo in enumerate(demos):
                for clock in clocks:
                    world = await browser.world()
                    try:
                        reason = await play(world, demo, f"{address}/{index}", clock, files)
                    except WebAgentError as error:
                        reason = f"{type(error).__name__}: {error}"
                    await world.close()
                    print(f"{'done' if not reason else 'NOT '} {clock:8} {demo.kind:8} {demo.name}")
                    if reason:
                        failures[f"{demo.name} ({clock})"] = reason.splitlines()[0]
                        print(reason if show else reason.splitlines()[0])
    return failures


def main() -> None:
    """Print what was done of every demo, and the share."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--clock", choices=("virtual", "real", "both"), default="both")
    parser.add_argument("--only", default="")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--show", action="store_true", help="print the page where a demo fails")
    chosen = parser.parse_args()
    clocks = ["virtual", "real"] if chosen.clock == "both" else [chosen.clock]
    demos = read_demos(chosen.only)
    failures = asyncio.run(measure(demos, clocks, chosen.cache, chosen.show))
    played = len(demos) * len(clocks)
    done = played - len(failures)
    print(f"\n{done} of {played} done ({100 * done / max(1, played):.1f} %), {len(demos)} demos")


if __name__ == "__main__":
    main()

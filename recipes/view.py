"""`webagent view`: serve the viewer for the given runs, and open it in a browser."""

import os
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from tyro.conf import Positional

from apps.listening import LOOPBACK, address_of, listen
from apps.view.contents import Archive
from loop.console.output import CommandResult, emit, is_for_program
from loop.console.pulse import current
from recipes.settings import resolve


@dataclass(frozen=True)
class ViewConfig:
    """View runs in a browser: curves, tasks, episodes, failures; live while a run goes on."""

    run: Positional[Path] = Path()
    """A run folder, or a folder of run folders. Default: the current folder."""
    port: int = 0
    """Port to listen on. Default: the first free one from 7777."""
    host: str = "127.0.0.1"
    """Address to listen on. Any address other than 127.0.0.1 lets others on the network see the
    runs: there is no password."""
    open: bool = True
    """Open the page in the default browser, if the command is typed on a desktop."""


@dataclass(frozen=True)
class Served:
    """Where the runs can be viewed; printed at the start and at the end."""

    address: str
    """URL for a browser on this machine, or on others depending on `--host`."""
    runs: list[str]
    """Names of the runs present at the start."""


def main(argv: Sequence[str]) -> CommandResult:
    """Serve until Ctrl-C. Raises `SetupError` if there is nothing to show or no free port."""
    config = resolve(ViewConfig, "view", argv)
    archive = Archive(config.run)
    archive.check()
    from apps.view.server import FIRST_PORT, serve

    with listen(config.host, config.port, FIRST_PORT) as listening:
        address = f"{address_of(config.host, listening.getsockname()[1])}/"
        served = Served(address, [run.name for run in archive.runs()])
        emit(asdict(served))
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        if config.host not in LOOPBACK:
            print(
                "anyone who can reach this machine can see the runs: there is no password",
                flush=True,
            )
        if config.open and has_desktop():
            webbrowser.open(address)
        serve(archive, config.host, listening)
    return CommandResult(served)


@contextmanager
def show_while(run: Path) -> Iterator[None]:
    """Serve a run while it is in progress, opened in a browser on a desktop; where people look,
    until Ctrl-C after its end."""
    from apps.view.server import FIRST_PORT, server_of

    host = LOOPBACK[0]
    with listen(host, 0, FIRST_PORT) as listening:
        address = f"{address_of(host, listening.getsockname()[1])}/run/{quote(run.name)}"
        server = server_of(Archive(run))
        thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
        thread.start()
        print(f"watch it at {address}", file=sys.stderr, flush=True)
        if has_desktop():
            webbrowser.open(address)
        try:
            yield
            if sys.stdout.isatty() and sys.stdin.isatty() and not is_for_program():
                if pulse := current():
                    pulse.displays += 1  # nothing is at work any more
                print(f"the page at {address} stays until Ctrl-C", flush=True)
                with suppress(KeyboardInterrupt):
                    thread.join()
        finally:
            server.should_exit = True
            thread.join(5.0)


def has_desktop() -> bool:
    """Return whether someone at a terminal of this machine would see its windows."""
    if is_for_program() or not sys.stdout.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform != "linux" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )

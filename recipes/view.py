"""The command line of the viewer: which runs, at which address, and whether a browser is opened."""

import os
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tyro.conf import Positional

from apps.listening import address_of, listen
from apps.view import LOCAL
from apps.view.contents import Archive
from loop.console.output import CommandResult, emit, is_for_program
from recipes.settings import resolve
from webagent.errors import UsageError

if TYPE_CHECKING:
    from apps.view.launcher import Launcher


@dataclass(frozen=True)
class ViewConfig:
    """Look at runs in a browser: curves, tasks, episodes, failures; live while a run goes on."""

    run: Positional[Path] = Path()
    """A run folder, or a folder of run folders; this one when none is named."""
    port: int = 0
    """Where to listen; the first free one from 7777 on when none is named."""
    host: str = "127.0.0.1"
    """The address to listen at. Anything but 127.0.0.1 lets others on the network see the runs:
    there is no password."""
    control: bool = False
    """Let runs be started, steered and stopped from the page, by whoever has the token in the
    address that is printed; on this machine alone."""
    open: bool = True
    """Open it in the default browser, where the command is typed on a desktop."""


@dataclass(frozen=True)
class Served:
    """Where the runs can be seen; told at once, and once more at the end."""

    address: str
    """For a browser on this machine, or where `--host` says on others."""
    runs: list[str]
    """Names of the runs there were at the beginning."""


def main(argv: Sequence[str]) -> CommandResult:
    """Serve until Ctrl-C. Raises `SetupError` where there is nothing to show or no port."""
    config = resolve(ViewConfig, "view", argv)
    archive = Archive(config.run)
    launcher = _make_launcher(config) if config.control else None
    if launcher is None:
        archive.check()
    from apps.view.server import FIRST_PORT, serve

    with listen(config.host, config.port, FIRST_PORT) as listening:
        address = f"{address_of(config.host, listening.getsockname()[1])}/"
        address += f"?token={launcher.token}" if launcher else ""
        served = Served(address, [run.name for run in archive.runs()])
        emit(asdict(served))
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        if config.host not in LOCAL:
            print("whoever reaches this machine can see the runs: there is no password", flush=True)
        if config.open and _has_desktop():
            webbrowser.open(address)
        serve(archive, config.host, listening, launcher)
    for each in launcher.at_work() if launcher else ():
        print(f"{each.name} goes on; end it with: kill -INT {each.process.pid}")
    return CommandResult(served)


def _make_launcher(config: ViewConfig) -> "Launcher":
    """Return what starts runs in the folder. Raises `UsageError` where it must not."""
    if config.host not in LOCAL:
        raise UsageError(f"--control is for this machine alone; leave --host {config.host} out")
    if any((config.run / name).exists() for name in ("run.json", "run.sqlite")):
        raise UsageError(
            f"--control starts runs in a folder of runs, and {config.run} is a run; name the folder"
            " above it"
        )
    from apps.view.launcher import Launcher
    from recipes.forms import startable_commands

    config.run.mkdir(parents=True, exist_ok=True)
    return Launcher(config.run, startable_commands())


def _has_desktop() -> bool:
    """Return whether somebody at a terminal of this machine sees the windows that it opens."""
    if is_for_program() or not sys.stdout.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform != "linux" or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )

"""The command line of the viewer: which runs, at which address, and whether a browser is opened."""

import importlib.util
import webbrowser
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tyro.conf import Positional

from apps.view import LOCAL
from apps.view.contents import Archive
from loop.console.outcome import CommandResult
from loop.console.output import emit
from recipes.settings import resolve
from webagent.errors import SetupError

_NEEDED = ("starlette", "jinja2", "uvicorn", "python_multipart")


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
    open: bool = False
    """Open it in the default browser."""


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
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise SetupError(
            f"the viewer needs {', '.join(missing)}; pip install 'webagent-loop[view]'"
        )
    archive = Archive(config.run)
    archive.check()
    from apps.view.server import listen, serve

    with listen(config.host, config.port) as listening:
        address = address_of(config.host, listening.getsockname()[1])
        served = Served(address, [run.name for run in archive.runs()])
        emit(asdict(served))
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        if config.host not in LOCAL:
            print("whoever reaches this machine can see the runs: there is no password", flush=True)
        if config.open:
            webbrowser.open(address)
        serve(archive, config.host, listening)
    return CommandResult(served)


def address_of(host: str, port: int) -> str:
    """What is typed into a browser."""
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

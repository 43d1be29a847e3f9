"""The command line of the viewer: which runs, at which address, and whether a browser is opened."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tyro.conf import Positional

from recipes.config import resolve
from recipes.view.archive import Archive
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
    json: bool = False
    """Print the address as JSON."""


def main(argv: Sequence[str]) -> int:
    """Serve until Ctrl-C. Raises `SetupError` where there is nothing to show or no port."""
    config = resolve(ViewConfig, "view", argv)
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise SetupError(
            f"the viewer needs {', '.join(missing)}; get it with: pip install 'webagent-loop[view]'"
        )
    archive = Archive(config.run)
    archive.check()
    from recipes.view.server import serve

    return serve(archive, config)

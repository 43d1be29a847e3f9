"""An application of the checkout as a site: its own server, started anew for every episode."""

import hashlib
import sys
from pathlib import Path

from benchmarks.sites.described import CommandSite
from benchmarks.webarena_infinity import VERSION, find_applications

LAUNCHER = Path(__file__).with_name("launch.py")


def address_of(application: str) -> str:
    """Return its address in tasks and trajectories."""
    return f"http://{application}.test"


def site(application: str) -> CommandSite:
    """Return the site of an application of the checkout.

    The application keeps its state in the browser and in the memory of its server, so that a new
    server and a new session are a reset.
    """
    folder = find_applications()[application]
    source = hashlib.sha256((folder / "server.py").read_bytes()).hexdigest()
    return CommandSite(
        id=f"{application}@{VERSION}",
        address=address_of(application),
        serve_command=(sys.executable, str(LAUNCHER), "{port}", str(folder)),
        environment={"WEBAGENT_INFINITY_SERVER": source},
        restart_on_reset=True,
        folder=folder,
    )

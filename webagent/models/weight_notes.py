"""What is noted beside weights: what they were trained to be, and where unchanged ones lie."""

import json
from collections.abc import Collection
from pathlib import Path

from webagent.errors import SetupError, UsageError

ROLE, UNCHANGED = "role.json", "unchanged.json"


def write_role(folder: Path, role: str) -> None:
    """Say it beside the weights: `policy`, `world`, `reward` or `judge`."""
    (folder / ROLE).write_text(json.dumps({"role": role}) + "\n", encoding="utf-8")


def read_role(folder: Path) -> str:
    """Return what the weights in a folder say they were trained to be; empty where they do not.

    Raises `UsageError` for a note that cannot be read.
    """
    try:
        return str(json.loads((folder / ROLE).read_text(encoding="utf-8"))["role"])
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder / ROLE} does not say a role ({error!r}); delete it") from error


def check_role(folder: Path, wanted: Collection[str], asked: str) -> None:
    """Raise `UsageError` where a folder says that its weights are of another role than those
    wanted; weights of earlier versions say nothing and pass. `asked` is what the user wrote."""
    role = read_role(folder)
    if role and role not in wanted:
        article = " or ".join(f"a {name}" for name in wanted)
        raise UsageError(
            f"{asked}: {folder} holds weights that were trained to be a {role}; expected {article}"
            " model's folder"
        )


def write_unchanged(folder: Path, place: str) -> None:
    """Say in a folder where the weights are that belong there."""
    (folder / UNCHANGED).write_text(json.dumps({"weights": place}) + "\n", encoding="utf-8")


def resolve_unchanged(place: Path | str) -> str:
    """Return where the weights of a folder lie: there, or where `write_unchanged` says.

    Raises `SetupError` where its file cannot be read.
    """
    noted = Path(place, UNCHANGED)
    if not noted.is_file():
        return str(place)
    try:
        return str(json.loads(noted.read_text(encoding="utf-8"))["weights"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(f"{noted} does not say where the weights are ({error!r})") from error

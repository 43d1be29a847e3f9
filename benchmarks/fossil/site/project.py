"""The project that the site begins with: Quillmark, its people, what they wrote, its settings."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "project"


@dataclass(frozen=True, slots=True)
class ProjectMember:
    """Someone with a login."""

    login: str
    password: str
    name: str
    """With the address, as Fossil shows it."""
    capabilities: str
    """One letter each, as Fossil has them."""


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody did to a ticket; times are UTC, as `2023-02-18T14:54:30`."""

    date: str
    user: str
    comment: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket from its opening to what became of it."""

    title: str
    type: str
    subsystem: str
    severity: str
    priority: str
    foundin: str
    reporter: str
    opened: str
    description: str
    changes: tuple[Change, ...]
    duplicates: str = ""
    """Title of an older ticket about the same thing, which nobody has noticed."""

    @property
    def uuid(self) -> str:
        """What Fossil calls it; pages show the first ten letters."""
        return sha1(f"ticket {self.opened} {self.title}".encode()).hexdigest()

    @property
    def status(self) -> str:
        """Where it stands at the end."""
        return self._last("status", "Open")

    @property
    def resolution(self) -> str:
        """How it ended; `Open` while it has not."""
        return self._last("resolution", "Open")

    def _last(self, field: str, begin: str) -> str:
        values = [change.fields[field] for change in self.changes if field in change.fields]
        return values[-1] if values else begin


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A wiki page; all but the last version lack its last paragraph."""

    name: str
    text: str
    versions: tuple[tuple[str, str], ...]
    """Date and user, oldest first."""

    def at(self, version: int) -> str:
        """Return the text of a version, counted from 0."""
        if version == len(self.versions) - 1:
            return self.text
        return self.text.rstrip().rsplit("\n\n", 1)[0] + "\n"


@dataclass(frozen=True, slots=True)
class Post:
    """A forum post; the first one of a thread has a title and answers none."""

    date: str
    user: str
    text: str
    title: str = ""
    to: int = -1
    """Place in the thread of the post that this one answers."""


@dataclass(frozen=True, slots=True)
class TechNote:
    """A technote: a dated word in the timeline."""

    date: str
    user: str
    title: str
    text: str
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CheckIn:
    """One check-in on a branch."""

    date: str
    user: str
    branch: str
    comment: str
    write: Mapping[str, str]
    append: Mapping[str, str]
    tag: str = ""
    merge: str = ""
    """The branch that is merged by it."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The files it changes itself, besides what a merge brings."""
        return (*self.write, *self.append)


@cache
def people() -> tuple[ProjectMember, ...]:
    """Everybody with a login, the administrator first."""
    return tuple(ProjectMember(**row) for row in _rows("people"))


@cache
def tickets() -> tuple[Ticket, ...]:
    """Return all tickets, oldest first."""
    return tuple(
        Ticket(
            **{
                **row,
                "changes": tuple(
                    Change(
                        change["date"], change["user"], change["comment"], change.get("fields", {})
                    )
                    for change in row["changes"]
                ),
            }
        )
        for row in _rows("tickets")
    )


@cache
def pages() -> tuple[WikiPage, ...]:
    """Return the wiki."""
    return tuple(
        WikiPage(
            row["name"],
            (FOLDER / "wiki" / row["file"]).read_text(),
            tuple((version["date"], version["user"]) for version in row["versions"]),
        )
        for row in _rows("wiki")
    )


@cache
def threads() -> tuple[tuple[Post, ...], ...]:
    """Return the forum: each thread with its posts, oldest first."""
    return tuple(
        (
            Post(row["date"], row["user"], row["text"], row["title"]),
            *(Post(**reply) for reply in row["replies"]),
        )
        for row in _rows("forum")
    )


@cache
def technotes() -> tuple[TechNote, ...]:
    """Return the technotes, oldest first."""
    return tuple(TechNote(**{**row, "tags": tuple(row["tags"])}) for row in _rows("technotes"))


@cache
def check_ins() -> tuple[CheckIn, ...]:
    """Return the history of the code, oldest first."""
    return tuple(CheckIn(**row) for row in _rows("history"))


def _rows(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_text())
    return rows


SUBSYSTEMS = ("parser", "renderer", "themes", "search", "cli", "exporter", "docs")
TYPES = ("Code_Defect", "Build_Problem", "Documentation", "Feature_Request", "Incident")
PRIORITIES = ("Immediate", "High", "Medium", "Low", "Zero")
SEVERITIES = ("Critical", "Severe", "Important", "Minor", "Cosmetic")
STATUSES = ("Open", "Verified", "Review", "Deferred", "Fixed", "Tested", "Closed")
RESOLUTIONS = (
    *("Open", "Fixed", "Rejected", "Workaround", "Unable_To_Reproduce", "Works_As_Designed"),
    *("External_Bug", "Not_A_Bug", "Duplicate", "Overcome_By_Events", "Drive_By_Patch"),
    "Misconfiguration",
)

_CHOICES = {
    "type": TYPES,
    "priority": PRIORITIES,
    "severity": SEVERITIES,
    "resolution": RESOLUTIONS,
    "status": STATUSES,
    "subsystem": SUBSYSTEMS,
}


_FILE = tomllib.loads((FOLDER / "settings.toml").read_text())
SETTINGS = {
    **_FILE,
    # With the line ends of a form that is sent, so that one sent unchanged changes nothing.
    "mainmenu": _FILE["mainmenu"].replace("\n", "\r\n"),
    "ticket-common": "".join(
        f"set {field}_choices {{\n" + "".join(f"   {choice}\n" for choice in choices) + "}\n"
        for field, choices in _CHOICES.items()
    ),
}
"""The settings of the file, and the choices that a ticket's fields offer."""
REPORT = ("By Severity", (FOLDER / "by-severity.sql").read_text().rstrip())
"""Title and query of a report beside Fossil's own."""

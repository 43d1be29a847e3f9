"""What is known of one site, as a Markdown file that people read and edit.

Entries are items of its lists; everything else in the file is kept as it is.
"""

import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from webagent.errors import SetupError
from webagent.policy.knowledge.entries import ITEM, KINDS, EntryKind, SiteEntry, parse_entry
from webagent.records import Trajectory

_CITED = re.compile(r"\[([rh]\d+)\]")
_TITLE = "# What is known of "
_VERSION = re.compile(r"Version (\d+)\.")
Block: TypeAlias = SiteEntry | str


@dataclass(frozen=True, slots=True)
class SiteFile:
    """The entries on one site, in the order of their file, with the lines between them."""

    site: str
    blocks: tuple[Block, ...] = ()

    @property
    def entries(self) -> tuple[SiteEntry, ...]:
        """The entries, retired ones included."""
        return tuple(block for block in self.blocks if isinstance(block, SiteEntry))

    def of_kind(self, kind: EntryKind) -> tuple[SiteEntry, ...]:
        """Return the entries of this kind, retired ones included."""
        return tuple(entry for entry in self.entries if entry.kind == kind)

    def __str__(self) -> str:
        """Return the Markdown; a file that was read and not changed is written as it was."""
        return "\n".join(map(str, self.blocks))

    def entry(self, id: str) -> SiteEntry | None:
        """Return the entry of this number, if there is one."""
        return next((entry for entry in self.entries if entry.id == id), None)

    def changed(self, entry: SiteEntry) -> "SiteFile":
        """Return it with this entry in place of the one of the same number."""
        blocks = tuple(
            entry if isinstance(block, SiteEntry) and block.id == entry.id else block
            for block in self.blocks
        )
        return replace(self, blocks=blocks)

    def without(self, *ids: str) -> "SiteFile":
        """Return it without the entries of these numbers."""
        kept = tuple(
            block for block in self.blocks if not (isinstance(block, SiteEntry) and block.id in ids)
        )
        return replace(self, blocks=kept)

    def added(self, entry: SiteEntry) -> "SiteFile":
        """Return it with a learnt entry, whose `id` is the letter of its kind, under the next
        number: behind the last one of its kind, else below the heading of that, else at the end."""
        entry = entry.changed(id=_find_next_id(entry.id, self.entries))
        after = [
            place
            for place, block in enumerate(self.blocks)
            if isinstance(block, SiteEntry) and block.kind == entry.kind
        ]
        heading = f"## {entry.kind.capitalize()}"
        headings = [place for place, block in enumerate(self.blocks) if block == heading]
        if after:
            place = after[-1] + 1
        elif headings:
            below = self.blocks[headings[-1] + 1 :]
            place = headings[-1] + 1 + (below[:1] == ("",))
        else:
            place = len(self.blocks) - (self.blocks[-1:] == ("",))
        return replace(self, blocks=(*self.blocks[:place], entry, *self.blocks[place:]))

    def pruned(self, kind: EntryKind, most: int) -> "SiteFile":
        """Return it with at most so many of a kind; of the learnt ones the retired go, then those
        of the task with the most, the worst first."""
        file = self
        while len(held := file.of_kind(kind)) > most:
            tasks = Counter(entry.task for entry in held)
            learnt = [entry for entry in reversed(file.ranked(kind)) if entry.is_learnt]
            if not learnt:
                break
            worst = max(learnt, key=lambda entry: (entry.is_retired, tasks[entry.task]))
            file = file.without(worst.id)
        return file

    def ranked(self, kind: EntryKind) -> list[SiteEntry]:
        """Return a person's first, then by what speaks for them, then the newer; retired last."""

        def rank(entry: SiteEntry) -> tuple[bool, bool, int, int, int]:
            against = entry.hurt - entry.helped
            return entry.is_retired, entry.is_learnt, against, -entry.used, -int(entry.id[1:])

        return sorted(self.of_kind(kind), key=rank)


def new_file(site: str) -> SiteFile:
    """Return a file without entries, with a word to whoever opens it."""
    lines = (
        f"{_TITLE}{site}",
        "",
        "Version 0.",
        "",
        "One entry an item. Edit, add and delete as you like: a rule that you add without a number",
        "is yours, and the agent leaves it alone. (retired) at the end of an item keeps it without",
        "showing it.",
        "",
        "## Rules",
        "",
        "",
        "## Examples",
        "",
        "",
    )
    return SiteFile(site, lines)


def parse_file(site: str, markdown: str, where: str) -> SiteFile:
    """Return the file that a text holds. Raises `SetupError` naming the line that is wrong."""
    found: list[tuple[str, int]] = []
    is_item = False
    for number, text in enumerate(markdown.split("\n"), start=1):
        if number == 1 and text.startswith(_TITLE) and text.removeprefix(_TITLE).strip() != site:
            raise SetupError(
                f"{where}, line 1: it is about {text.removeprefix(_TITLE).strip()}, but named after"
                f" {site}; rename the file, or correct this line"
            )
        if is_item and text[:2].isspace() and text.strip():
            found[-1] = f"{found[-1][0]}\n{text}", found[-1][1]
            continue
        is_item = ITEM.match(text) is not None
        found.append((text, number))
    blocks: list[Block] = []
    lines: dict[str, int] = {}
    for text, number in found:
        if not ITEM.match(text):
            blocks.append(text)
            continue
        entry = parse_entry(text, f"{where}, line {number}")
        if entry.id in lines:
            raise SetupError(
                f"{where}, line {number}: two entries are called {entry.id}, the other in line"
                f" {lines[entry.id]}; give one of them another number, or none if it is a rule"
            )
        if entry.id:
            lines[entry.id] = number
        blocks.append(entry)
    for place, block in enumerate(blocks):
        if isinstance(block, SiteEntry) and not block.id:
            known = tuple(each for each in blocks if isinstance(each, SiteEntry) and each.id)
            blocks[place] = replace(block, id=_find_next_id("h", known))
    return SiteFile(site, tuple(blocks))


def credit_entries(file: SiteFile, trajectory: Trajectory, *, went_well: bool) -> SiteFile:
    """Return the file with an episode counted for every entry that its thoughts name.

    Whether it went well is for the caller to say, once it is over.
    """
    named = {id for step in trajectory.steps for id in _CITED.findall(step.decision.thought)}
    for entry in file.entries:
        if entry.id in named:
            counted = entry.changed(
                used=entry.used + 1,
                helped=entry.helped + went_well,
                hurt=entry.hurt + (not went_well),
            )
            file = file.changed(counted)
    return file


def _find_next_id(letter: str, entries: tuple[SiteEntry, ...]) -> str:
    assert letter in KINDS
    numbers = [int(entry.id[1:]) for entry in entries if entry.id.startswith(letter)]
    return f"{letter}{max(numbers, default=0) + 1}"


def site_of(url: str) -> str:
    """Return what the file of an address is called: host and port, or the page's name on a disk."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2] or Path(parts.path).stem
    return re.sub(r"[^a-z0-9.-]+", "_", place.lower()).strip("._") or "unknown"


def site_of_episode(episode: Trajectory) -> str:
    """Return the site of an episode's first page."""
    first = episode.steps[0].observation.url if episode.steps else ""
    return site_of(first or episode.task.start_url)


def read_file(folder: Path, site: str) -> SiteFile:
    """Return what is known of a site, a new file where there is none. Raises `SetupError`."""
    file = folder / f"{site}.md"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return new_file(site)
    except UnicodeDecodeError as error:
        raise SetupError(f"{file} is not UTF-8 text: {error.reason}; save it as UTF-8") from error
    except OSError as error:
        raise SetupError(f"{file} cannot be read: {error.strerror}") from error
    return parse_file(site, text, str(file))


def read_files(folder: Path) -> dict[str, SiteFile]:
    """Return all files of a folder by site. Raises `SetupError` for one that makes no sense, and
    where there is no such folder."""
    if not folder.is_dir():
        raise SetupError(
            f"{folder} is not a folder; expected one with a file SITE.md for each site"
        )
    sites = sorted(file.stem for file in folder.glob("*.md"))
    return {site: read_file(folder, site) for site in sites}


def write_file(folder: Path, content: SiteFile) -> Path:
    """Save a file whole or not at all; where it differs from what is there, the number in its line
    `Version …` goes up. Raises `SetupError` when it cannot be saved."""
    file = folder / f"{content.site}.md"
    draft = folder / f".{content.site}.{os.getpid()}"
    text = str(content)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            return file
        lines = [
            f"Version {int(match[1]) + 1}." if (match := _VERSION.fullmatch(line)) else line
            for line in text.split("\n")
        ]
        draft.write_text("\n".join(lines), encoding="utf-8")
        draft.replace(file)
    except OSError as error:
        raise SetupError(f"{file} cannot be written: {error.strerror}") from error
    return file

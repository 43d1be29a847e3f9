"""One thing that is known of a site: what it says, where it came from and what it was worth.

In its file it is an item of a list, with its facts at the end of the first line:

    - r3: Search from the top. (used 4, helped 3, hurt 1; from e1, e2; learnt 2026-11-24)
    - x1: Buy the red mug. (used 0, helped 0, hurt 0; task shop/buy@1 seed 5; retired)
          1. Seen: …

An item without a number was written by a person: it is shown first, and no model changes or drops
it. After "CLIN: A Continually Learning Language Agent" (Majumder et al. 2023, arXiv 2310.10134),
"AutoManual" (Chen et al. 2024, arXiv 2405.16247) and "EvolveR" (Wu et al. 2025, arXiv 2510.16079):
what was learnt is kept as sentences with what speaks for them. Here they are a person's to edit.
"""

import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from webagent.errors import SetupError

EntryKind: TypeAlias = Literal["rules", "examples"]
KINDS: dict[str, EntryKind] = {"h": "rules", "r": "rules", "x": "examples"}
"""By the letter that numbers begin with: `h` is a rule that a person wrote."""
_GONE = r"(?!\[?[ct]\d+\]?:)"
"""Reflections and tools of version 0.1.0: they stay in their file as other text does."""
ITEM = re.compile(rf"[-*] +{_GONE}(?:\[?([{''.join(KINDS)}]\d+)\]?: +)?(\S.*)")
_FACTS = re.compile(r"(.*\S)\s+\(((?:used|retired)\b[^()]*)\)")
_DATE = r"(\d{4}-\d\d-\d\d)"
_FACT = re.compile(
    r"used (?P<used>\d+), helped (?P<helped>\d+), hurt (?P<hurt>\d+)"
    r"|from (?P<sources>.+)"
    r"|task (?P<task>\S+) seed (?P<seed>\d+)"
    rf"|learnt (?P<learnt>{_DATE})"
    # Of version 0.1.0, which tried entries.
    rf"|gain [+-]\d+% in \d+ trials on {_DATE}"
    r"|(?P<retired>retired)"
)
_EXAMPLE = "(used 4, helped 3, hurt 1; learnt 2026-11-24)"
_SOURCES_KEPT = 3
_INDENT = " " * 6


@dataclass(frozen=True, slots=True)
class SiteEntry:
    """One entry with what speaks for and against it."""

    id: str
    """Letter of its kind and a number; `h1` for the first that a person wrote."""
    text: str
    """What it says; of an example the goal of its task."""
    used: int = 0
    """Episodes whose thoughts named it."""
    helped: int = 0
    """Those of them that went well."""
    hurt: int = 0
    """Those that went badly."""
    sources: tuple[str, ...] = ()
    """Ids of the last episodes it was learnt from."""
    lines: tuple[str, ...] = ()
    """What an example shows."""
    task: str = ""
    """Full id of an example's task."""
    seed: int = 0
    learnt: str = ""
    """The day it was learnt, as 2026-11-24."""
    is_retired: bool = False
    """Whether it is kept without being shown."""
    written: str = field(default="", compare=False)
    """How it stands in the file, line breaks included; empty once it differs from that."""

    @property
    def kind(self) -> EntryKind:
        """Return what it is an entry of."""
        return KINDS[self.id[0]]

    @property
    def is_learnt(self) -> bool:
        """Whether it comes from episodes, and may be changed and retired."""
        return not self.id.startswith("h")

    def __str__(self) -> str:
        if self.written:
            return self.written
        facts = [f"used {self.used}, helped {self.helped}, hurt {self.hurt}"]
        facts += [f"from {', '.join(self.sources)}"] * bool(self.sources)
        facts += [f"task {self.task} seed {self.seed}"] * bool(self.task)
        facts += [f"learnt {self.learnt}"] * bool(self.learnt)
        facts += ["retired"] * self.is_retired
        head = f"- {self.id}: {self.text} ({'; '.join(facts)})"
        return "\n".join([head, *(f"{_INDENT}{line}" for line in self.lines)])

    def changed(self, **fields: Any) -> "SiteEntry":
        """Return it with these fields, to be written anew."""
        return replace(self, written="", **fields)

    def learnt_from(self, *episodes: str) -> "SiteEntry":
        """Return it with these episodes among its sources."""
        sources = tuple(dict.fromkeys((*self.sources, *episodes)))[-_SOURCES_KEPT:]
        return self.changed(sources=sources)


def parse_entry(written: str, where: str) -> SiteEntry:
    """Return an entry from an item of one or more lines; without a number its id is empty.

    Raises `SetupError` for facts that make no sense.
    """
    head, *more = written.split("\n")
    found = ITEM.match(head)
    assert found is not None
    id = found[1] or ""
    lines: tuple[str, ...] = ()
    if KINDS.get(id[:1], "rules") == "rules":
        head = " ".join(line.strip() for line in (head, *more))
    else:
        lines = tuple(textwrap.dedent("\n".join(more)).split("\n")) if more else ()
        if not lines:
            raise SetupError(
                f"{where}: {id} says nothing; expected what it tells on lines below that begin"
                " with spaces, or delete it"
            )
    match = ITEM.match(head)
    assert match is not None
    text = match[2].strip()
    with_facts = _FACTS.fullmatch(text)
    if with_facts is None:
        return SiteEntry(id, text, lines=lines, written=written)
    facts: dict[str, Any] = {}
    for fact in (each.strip() for each in with_facts[2].split(";")):
        stated = _FACT.fullmatch(fact)
        if stated is None:
            raise SetupError(
                f"{where}: {fact!r} is not a fact of an entry; expected such as {_EXAMPLE},"
                " `retired` at the end to keep it without showing it, or nothing: delete it to"
                " start at 0"
            )
        given = {name: value for name, value in stated.groupdict().items() if value is not None}
        counts = given.keys() & {"used", "helped", "hurt", "seed"}
        facts |= {name: int(given[name]) for name in counts}
        facts |= {name: given[name] for name in given.keys() & {"task", "learnt"}}
        if "sources" in given:
            facts["sources"] = tuple(s.strip() for s in given["sources"].split(",") if s.strip())
        if "retired" in given:
            facts["is_retired"] = True
    if facts.get("helped", 0) + facts.get("hurt", 0) > facts.get("used", 0):
        raise SetupError(
            f"{where}: an entry that was used {facts['used']} times cannot have helped"
            f" {facts['helped']} and hurt {facts['hurt']} times; correct the counts, or delete"
            " them to start at 0"
        )
    return SiteEntry(id, with_facts[1], lines=lines, written=written, **facts)

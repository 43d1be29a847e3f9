"""The hints of a folder, a Markdown file for each site, as `Knowledge`.

A hint is an item of a list: `- r3: Search from the top of the page. (used 4, helped 3, hurt 1)`.
An item without a number was written by a person: it is shown first, and no model changes or drops
it. Everything else in the file is kept as it is.

After "CLIN: A Continually Learning Language Agent" (Majumder et al. 2023, arXiv 2310.10134),
"AutoManual" (Chen et al. 2024, arXiv 2405.16247) and "EvolveR" (Wu et al. 2025, arXiv 2510.16079):
what was learnt is kept as sentences with what speaks for them. Here they are a person's to edit.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias
from urllib.parse import urlsplit

from tasks.task import Task
from webagent.errors import SetupError
from webagent.models.prompt import Prompt, estimate_tokens, fence, load_prompt, shorten
from webagent.records import Observation, Trajectory

_ITEM = re.compile(r"[-*] +(?:\[?([rh]\d+)\]?: +)?(\S.*)")
_COUNTED = re.compile(r"(.*\S)\s+\(used\b([^()]*)\)")
_COUNTS = re.compile(r" (\d+), helped (\d+), hurt (\d+)(?:; from ([^;]+))?")
_CITED = re.compile(r"\[([rh]\d+)\]")
_SOURCES_KEPT = 3
HINTS_PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "hints.md")
_MAX_HINT = 400


@dataclass(frozen=True, slots=True)
class Rule:
    """One hint with what speaks for it."""

    id: str
    """`r` and a number for a learnt one, `h` and a number for one that a person wrote."""
    text: str
    used: int = 0
    """Episodes whose thoughts named it."""
    helped: int = 0
    """Those of them that went well."""
    hurt: int = 0
    """Those that went badly."""
    sources: tuple[str, ...] = ()
    """Ids of the last episodes it was learnt from."""
    written: str = field(default="", compare=False)
    """How it stands in the file, line breaks included; empty once it differs from that."""

    @property
    def is_learnt(self) -> bool:
        """Whether a model wrote it, and may change it."""
        return self.id.startswith("r")

    def __str__(self) -> str:
        if self.written:
            return self.written
        origin = f"; from {', '.join(self.sources)}" if self.sources else ""
        counts = f"(used {self.used}, helped {self.helped}, hurt {self.hurt}{origin})"
        return f"- {self.id}: {self.text} {counts}"

    def learnt_from(self, *episodes: str) -> "Rule":
        """Return it with these episodes among its sources."""
        sources = tuple(dict.fromkeys((*self.sources, *episodes)))[-_SOURCES_KEPT:]
        return replace(self, sources=sources, written="")


Block: TypeAlias = Rule | str


@dataclass(frozen=True, slots=True)
class RuleBook:
    """The hints on one site, in the order of their file, with the lines between them."""

    site: str
    blocks: tuple[Block, ...] = ()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The hints."""
        return tuple(block for block in self.blocks if isinstance(block, Rule))

    def __str__(self) -> str:
        """Return the Markdown; a book that was read and not changed is written as it was."""
        return "\n".join(map(str, self.blocks))

    def rule(self, id: str) -> Rule | None:
        """Return the hint of this number, if there is one."""
        return next((rule for rule in self.rules if rule.id == id), None)

    def changed(self, rule: Rule) -> "RuleBook":
        """Return it with this rule in place of the one of the same number."""
        blocks = tuple(
            rule if isinstance(block, Rule) and block.id == rule.id else block
            for block in self.blocks
        )
        return replace(self, blocks=blocks)

    def without(self, id: str) -> "RuleBook":
        """Return it without the rule of this number."""
        kept = tuple(
            block for block in self.blocks if not (isinstance(block, Rule) and block.id == id)
        )
        return replace(self, blocks=kept)

    def added(self, text: str, *episodes: str) -> "RuleBook":
        """Return it with a learnt rule under the next number, behind the last rule."""
        rule = Rule(_find_next_id("r", self.rules), text).learnt_from(*episodes)
        places = [place for place, block in enumerate(self.blocks) if isinstance(block, Rule)]
        end = len(self.blocks) - (self.blocks[-1:] == ("",))
        place = places[-1] + 1 if places else end
        return replace(self, blocks=(*self.blocks[:place], rule, *self.blocks[place:]))

    def pruned(self, most: int) -> "RuleBook":
        """Return it with at most so many rules; the worst of the learnt ones go."""
        book = self
        for rule in reversed(self.ranked()):
            if len(book.rules) > most and rule.is_learnt:
                book = book.without(rule.id)
        return book

    def ranked(self) -> list[Rule]:
        """Return a person's first, then by what speaks for and against them, then the newer."""

        def rank(rule: Rule) -> tuple[bool, int, int, int]:
            return rule.is_learnt, rule.hurt - rule.helped, -rule.used, -int(rule.id[1:])

        return sorted(self.rules, key=rank)


def new_book(site: str) -> RuleBook:
    """Return a book without hints, with a word to whoever opens its file."""
    lines = (
        f"# Hints for {site}",
        "",
        "One hint an item. Edit, add and delete as you like: an item that you add without a number",
        "is yours, and the agent leaves it alone.",
        "",
        "",
    )
    return RuleBook(site, lines)


def parse_book(site: str, markdown: str, where: str) -> RuleBook:
    """Return the book that a text holds. Raises `SetupError` naming the line that is wrong."""
    blocks: list[Block] = []
    for number, text in enumerate(markdown.split("\n"), start=1):
        last = blocks[-1] if blocks else ""
        if isinstance(last, Rule) and text[:2].isspace() and text.strip():
            # An item that goes on in the next line is read anew as a whole.
            blocks[-1] = _parse_item(f"{last.written}\n{text}", f"{where}, line {number}")
        elif _ITEM.match(text):
            blocks.append(_parse_item(text, f"{where}, line {number}"))
        else:
            blocks.append(text)
    return _number_hints(RuleBook(site, tuple(blocks)), where)


def credit_rules(book: RuleBook, trajectory: Trajectory, *, went_well: bool) -> RuleBook:
    """Return the book with an episode counted for every hint that its thoughts name.

    Whether it went well is for the caller to say, once it is over.
    """
    named = {id for step in trajectory.steps for id in _CITED.findall(step.decision.thought)}
    for rule in book.rules:
        if rule.id in named:
            counted = replace(
                rule,
                used=rule.used + 1,
                helped=rule.helped + went_well,
                hurt=rule.hurt + (not went_well),
                written="",
            )
            book = book.changed(counted)
    return book


def _parse_item(written: str, where: str) -> Rule:
    """Return a rule from an item of one or more lines. Raises `SetupError` for wrong counts."""
    flat = " ".join(line.strip() for line in written.splitlines())
    match = _ITEM.match(flat)
    assert match is not None
    id, text = match[1] or "", match[2].strip()
    counted = _COUNTED.fullmatch(text)
    if counted is None:
        return Rule(id, text, written=written)
    counts = _COUNTS.fullmatch(counted[2])
    if counts is None:
        raise SetupError(
            f"{where}: (used{counted[2]}) is no count of a hint; expected such as"
            " (used 4, helped 3, hurt 1), or nothing: delete it to start at 0"
        )
    used, helped, hurt = (int(count) for count in counts.groups()[:3])
    if helped + hurt > used:
        raise SetupError(
            f"{where}: a hint that was used {used} times cannot have helped {helped} and hurt"
            f" {hurt} times; correct the counts, or delete them to start at 0"
        )
    sources = tuple(source.strip() for source in (counts[4] or "").split(",") if source.strip())
    return Rule(id, counted[1], used, helped, hurt, sources, written)


def _number_hints(book: RuleBook, where: str) -> RuleBook:
    """Return it with numbers for a person's hints. Raises `SetupError` where two have the same."""
    ids = [rule.id for rule in book.rules if rule.id]
    twice = sorted({id for id in ids if ids.count(id) > 1})
    if twice:
        raise SetupError(
            f"{where}: two hints are called {twice[0]}; give one of them no number, and it gets one"
        )
    blocks: list[Block] = []
    for block in book.blocks:
        if isinstance(block, Rule) and not block.id:
            known = [*book.rules, *(each for each in blocks if isinstance(each, Rule))]
            block = replace(block, id=_find_next_id("h", known))
        blocks.append(block)
    return replace(book, blocks=tuple(blocks))


def _find_next_id(letter: str, rules: "tuple[Rule, ...] | list[Rule]") -> str:
    numbers = [int(rule.id[1:]) for rule in rules if rule.id.startswith(letter)]
    return f"{letter}{max(numbers, default=0) + 1}"


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints as they were when they were read, so that a run is told the same throughout.

    Those of the site of an episode's first page are shown.
    """

    books: Mapping[str, RuleBook]
    """By site."""
    max_tokens: int = 600
    """Of the hints in a prompt, at most; estimated."""
    prompt: Prompt = HINTS_PROMPT

    @classmethod
    def read(cls, folder: Path, max_tokens: int = 600) -> "Hints":
        """Return all files of a folder. Raises `SetupError` for one that makes no sense."""
        if not folder.is_dir():
            raise SetupError(f"{folder} is no folder; expected one with a file site.md for a site")
        sites = sorted(file.stem for file in folder.glob("*.md"))
        return cls({site: read_book(folder, site) for site in sites}, max_tokens)

    def recall(self, task: Task, goal: str, first: Observation) -> str:
        """Return the hints on the site of this page, the best ones first; empty for none."""
        book = self.books.get(site_of(first.url or task.start_url))
        if book is None or not book.rules:
            return ""
        return HINTS_PROMPT.fill("shown", hints=fence("hints", format_hints(book, self.max_tokens)))


def format_hints(book: RuleBook, max_tokens: int) -> str:
    """Return the hints with their numbers, the best first, and how many did not fit."""
    ranked = book.ranked()
    lines: list[str] = []
    for rule in ranked:
        lines.append(f"- [{rule.id}] {shorten(rule.text, _MAX_HINT)}")
        if estimate_tokens("\n".join(lines)) > max_tokens:
            return "\n".join([*lines[:-1], f"({len(ranked) - len(lines) + 1} hints left out)"])
    return "\n".join(lines)


def site_of(url: str) -> str:
    """Return what the file of an address is called: host and port, or the page's name on a disk."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2] or Path(parts.path).stem
    return re.sub(r"[^a-z0-9.-]+", "_", place.lower()).strip("._") or "unknown"


def site_of_episode(episode: Trajectory) -> str:
    """Return the site of an episode's first page."""
    first = episode.steps[0].observation.url if episode.steps else ""
    return site_of(first or episode.task.start_url)


def read_book(folder: Path, site: str) -> RuleBook:
    """Return the hints on a site, an empty book without a file. Raises `SetupError`."""
    file = folder / f"{site}.md"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return new_book(site)
    except UnicodeDecodeError as error:
        raise SetupError(f"{file} is not UTF-8 text: {error.reason}; save it as UTF-8") from error
    except OSError as error:
        raise SetupError(f"{file} cannot be read: {error.strerror}") from error
    return parse_book(site, text, str(file))


def write_book(folder: Path, book: RuleBook) -> Path:
    """Save a book whole or not at all. Raises `SetupError` when it cannot be."""
    file = folder / f"{book.site}.md"
    draft = folder / f".{book.site}.{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.write_text(str(book), encoding="utf-8")
        draft.replace(file)
    except OSError as error:
        raise SetupError(f"{file} cannot be written: {error.strerror}") from error
    return file

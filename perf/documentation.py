"""What the pages of the documentation tell a reader to type, and what they show as code."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHELL = ("", "sh", "bash", "console")
OURS = ("webagent", "scripts/", "python", ".venv/bin/")
AROUND = ("cd", "cp", "eval", "export", "git", "pip", "ray", "source", "sbatch")
"""What stands around our commands; how to set up a shell is not ours to test."""

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.S | re.M)
_INLINE = re.compile(r"`(webagent [a-z][^`]*)`")
_TABLE = re.compile(r"^\|.*\|$", re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Where it stands, for messages."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of a page, as words; `…`, which stands for more, is left out."""

    page: str
    line: int
    argv: tuple[str, ...]

    @property
    def text(self) -> str:
        """The words as one line: its name in the tables of tests/docs/treated.py."""
        return " ".join(self.argv)


def pages() -> tuple[Path, ...]:
    """Every page that people wrote."""
    found = [ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CONTRIBUTING.md"]
    found += sorted((ROOT / "docs").rglob("*.md"))
    return tuple(found)


def name_of(page: Path) -> str:
    """The page's path as tables have it."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        indent = len(match[1])
        lines = (each[indent:] for each in match[3].splitlines())
        yield Block(name_of(page), line, match[2], "\n".join(lines) + "\n")


def commands(page: Path) -> Iterator[Command]:
    """The commands of a page's shell blocks, in order; raises `ValueError` for a foreign line."""
    for block in blocks(page):
        if block.language in SHELL:
            yield from _commands(block)


def spoken(page: Path) -> Iterator[Command]:
    """The commands that stand in a page's sentences and tables."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for match in _INLINE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Command(name_of(page), line, _words(match[1]))


def _commands(block: Block) -> Iterator[Command]:
    """Those of one block, unless it shows no commands at all, as a drawing does not."""
    lines = block.text.replace("\\\n", " ").splitlines()
    prompted = [line for line in lines if line.startswith("$ ")]  # the others are what came back
    begun = prompted or [line for line in lines if line.strip() and not line.startswith("#")]
    if not block.language and not any(_begins(line, (*OURS, *AROUND)) for line in begun):
        return
    for line in begun:
        words = _words(line.removeprefix("$ "))
        if _begins(line, OURS) or _begins(line, AROUND):
            yield Command(block.page, block.line, words)
        else:
            raise ValueError(f"{block.place}: neither ours nor around ours: {line}")


def _begins(line: str, words: tuple[str, ...]) -> bool:
    first = line.removeprefix("$ ").split(" ", 1)[0]
    return any(first == word or (word[-1] == "/" and first.startswith(word)) for word in words)


def _words(line: str) -> tuple[str, ...]:
    """Those of the first command, where several are piped."""
    words = shlex.split(line, comments=True)
    return tuple(word for word in words[: [*words, "|"].index("|")] if word != "…")

"""The hints of a folder, a Markdown file for each site, as `Knowledge`.

After "CLIN: A Continually Learning Language Agent" (Majumder et al. 2023, arXiv 2310.10134),
"AutoManual" (Chen et al. 2024, arXiv 2405.16247) and "EvolveR" (Wu et al. 2025, arXiv 2510.16079):
what was learnt is kept as sentences with what speaks for them. Here they are a person's to edit.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tasks.task import Task
from webagent.errors import SetupError
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.policy.knowledge.rulebook import RuleBook, new_book, parse_book
from webagent.policy.prompting.wording import line, tokens_in
from webagent.records import Observation, Trajectory

PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "hints.md")
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class Hints:
    """The hints as they were when they were read, so that a run is told the same throughout.

    Those of the site of an episode's first page are shown.
    """

    books: Mapping[str, RuleBook]
    """By site."""
    max_tokens: int = 600
    """Of the hints in a prompt, at most; estimated."""
    prompt: Prompt = PROMPT

    @classmethod
    def read(cls, folder: Path, max_tokens: int = 600) -> "Hints":
        """All files of a folder. Raises `SetupError` for one that makes no sense."""
        if not folder.is_dir():
            raise SetupError(f"{folder} is no folder; expected one with a file site.md for a site")
        sites = sorted(file.stem for file in folder.glob("*.md"))
        return cls({site: read_book(folder, site) for site in sites}, max_tokens)

    def recall(self, task: Task, goal: str, first: Observation) -> str:
        """The hints on the site of this page, the best ones first; empty where there are none."""
        book = self.books.get(site_of(first.url or task.start_url))
        if book is None or not book.rules:
            return ""
        return PROMPT.fill("shown", hints=fence("hints", listed(book, self.max_tokens)))


def listed(book: RuleBook, max_tokens: int) -> str:
    """The hints with their numbers, the best first, as many as fit; the others are counted."""
    ranked = book.ranked()
    lines: list[str] = []
    for rule in ranked:
        lines.append(f"- [{rule.id}] {line(rule.text, _LONGEST)}")
        if tokens_in("\n".join(lines)) > max_tokens:
            return "\n".join([*lines[:-1], f"({len(ranked) - len(lines) + 1} hints left out)"])
    return "\n".join(lines)


def site_of(url: str) -> str:
    """What the file of an address is called: host and port, or the page's name on a disk."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2] or Path(parts.path).stem
    return re.sub(r"[^a-z0-9.-]+", "_", place.lower()).strip("._") or "unknown"


def site_of_episode(episode: Trajectory) -> str:
    """The site of an episode's first page."""
    first = episode.steps[0].observation.url if episode.steps else ""
    return site_of(first or episode.task.start_url)


def read_book(folder: Path, site: str) -> RuleBook:
    """The hints on a site; none where it has no file. Raises `SetupError` for an unreadable one."""
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

"""From manuals and help pages: a text's chapters, each the ground for some tasks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loop.proposers.requests import Request, SiteScope, fill_common_slots, share_out
from tasks.task import Task

_LONGEST, _SHORTEST = 700, 25
"""Words of a chapter: a longer one is cut, a shorter one says too little."""
_ATX = re.compile(r"^(#{1,3})\s+(.+?)\s*#*\s*$")
_RULE = re.compile(r"^(={3,}|-{3,}|~{3,})\s*$")
_NUMBERED = re.compile(r"^\d+(?:\.\d+)*\.?\s+[A-Z].{2,70}$")
_HTML = re.compile(r"<(?:html|body|h[1-3]|p|div|ul|table|title)\b[^>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of a manual under one heading."""

    title: str
    text: str
    place: str = ""
    """The file or address it is from."""


def chapters(text: str, place: str = "") -> list[Chapter]:
    """The parts of a manual in Markdown, HTML or plain text that say enough to go by.

    A part is what stands under a heading of the first three levels; a long one is cut at
    paragraphs.
    """
    lines = _from_html(text) if _HTML.search(text) else text.splitlines()
    return [
        Chapter(title, piece, place)
        for title, body in _under_headings(lines)
        for piece in _pieces(body)
        if len(piece.split()) >= _SHORTEST
    ]


def from_chapters(
    scope: SiteScope,
    shown: Sequence[Chapter],
    count: int,
    known: Sequence[Task] = (),
    at_once: int = 2,
) -> list[Request]:
    """Requests that show some chapters each, `count` tasks in all."""
    groups = [shown[start : start + at_once] for start in range(0, len(shown), at_once)]
    return [
        Request(
            "manual",
            "manual",
            share,
            fill_common_slots(scope, share, known),
            {
                "chapters": "\n\n".join(
                    f"{n}. {each.title}\n{each.text}" for n, each in enumerate(group, 1)
                )
            },
            origins=tuple(f"{each.title!r} of {each.place or 'the manual'}" for each in group),
        )
        for group, share in zip(groups, share_out(count, len(groups)), strict=True)
        if share
    ]


def _from_html(text: str) -> list[str]:
    """The text of a page as lines, its headings marked as Markdown marks them."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, "html.parser")
    for part in soup(["script", "style", "nav", "header", "footer", "noscript", "template"]):
        part.decompose()
    for level in (1, 2, 3):
        for heading in soup(f"h{level}"):
            heading.string = f"\n{'#' * level} {' '.join(heading.get_text().split())}\n"
    for block in soup(["p", "li", "tr", "div", "br", "pre", "dt", "dd", "section", "article"]):
        block.append("\n")
    for end in soup(["p", "pre", "ul", "ol", "table", "dl"]):
        end.append("\n")
    return [re.sub(r"[ \t]+", " ", line).strip() for line in soup.get_text().splitlines()]


def _under_headings(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Each heading with the text below it; what stands before the first is the introduction."""
    found: list[tuple[str, list[str]]] = [("Introduction", [])]
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= line.lstrip().startswith("```")
        following = lines[number + 1] if number + 1 < len(lines) else ""
        heading = "" if fenced else _heading(line, following)
        if heading:
            found.append((heading, []))
        elif not _RULE.match(line):
            found[-1][1].append(line)
    return [(title, "\n".join(body).strip()) for title, body in found]


def _heading(line: str, following: str) -> str:
    if atx := _ATX.match(line):
        return atx[2]
    if line.strip() and len(line) < 80 and _RULE.match(following):
        return line.strip()
    return line.strip() if _NUMBERED.match(line) and not following.strip() else ""


def _pieces(body: str) -> list[str]:
    """The text in parts that are not too long, cut between paragraphs where that goes."""
    parts: list[list[str]] = [[]]
    for paragraph in re.split(r"\n\s*\n", body):
        tokens = paragraph.split()
        if sum(len(p.split()) for p in parts[-1]) + len(tokens) > _LONGEST and parts[-1]:
            parts.append([])
        if len(tokens) > _LONGEST:
            paragraph = " ".join(tokens[:_LONGEST])
        parts[-1].append(paragraph.strip())
    return ["\n\n".join(filter(None, part)) for part in parts]

"""Pages of Markdown out of headings, paragraphs and tables."""

from collections.abc import Iterable, Sequence

WRITTEN = "<!-- written by `python -m recipes.reference`; change the code instead -->"


def page(title: str, *parts: str) -> str:
    """A whole page; empty parts are left out."""
    return "\n\n".join([f"# {title}", WRITTEN, *filter(None, parts)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; empty where it would have no rows."""
    lines = [_row([" ".join(each.split()).replace("|", "\\|") for each in row]) for row in rows]
    return "\n".join([_row(heads), _row(["---"] * len(heads)), *lines]) if lines else ""


def code(text: str, language: str = "python") -> str:
    """A fenced block."""
    return f"```{language}\n{text}\n```"


def quoted(text: str) -> str:
    """As code within a line."""
    return f"``{text}``" if "`" in text else f"`{text}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"

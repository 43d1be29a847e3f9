"""All generated pages, and which of them are out of step with the code."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from recipes.reference.commands import command_pages
from recipes.reference.forms import form_pages
from recipes.reference.llms import llms_text
from recipes.reference.markdown import page, table
from recipes.reference.source import ROOT
from recipes.reference.surface import surface_pages

FOLDER = Path("docs/reference")


def main(argv: Sequence[str] | None = None) -> int:
    """0: all pages are as the code is; 1: --check found some that are not."""
    parser = argparse.ArgumentParser(prog="python -m recipes.reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(argv)
    stale = outdated()
    for path in stale:
        print(f"{'out of step' if options.check else 'written'}: {path}")
    if not options.check:
        write(stale)
    return 1 if stale and options.check else 0


def outdated() -> dict[Path, str | None]:
    """Path from the root to what should be there; None for a page that should not."""
    wanted: dict[Path, str | None] = dict(pages())
    there = {path.relative_to(ROOT) for path in (ROOT / FOLDER).rglob("*.md")}
    for path in there - wanted.keys():
        wanted[path] = None
    return {path: text for path, text in sorted(wanted.items()) if _read(ROOT / path) != text}


def write(stale: dict[Path, str | None]) -> None:
    """Bring the pages into step."""
    for path, text in stale.items():
        if text is None:
            (ROOT / path).unlink()
            continue
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")


def pages() -> dict[Path, str]:
    """Every generated page."""
    found = {FOLDER / "commands" / name: text for name, text in command_pages().items()}
    found |= {FOLDER / "python" / name: text for name, text in surface_pages().items()}
    found |= {FOLDER / name: text for name, text in form_pages().items()}
    return found | {FOLDER / "README.md": _index(), Path("llms.txt"): llms_text()}


def _index() -> str:
    rows = (
        ("[Commands](commands/README.md)", "every command with its settings"),
        ("[Tasks](tasks.md)", "the fields of a task, its checks, and the rules they may name"),
        ("[Actions](actions.md)", "what an agent can do"),
        ("[Records](records.md)", "what an episode leaves"),
        ("[Files](files.md)", "sites, profiles, endpoints and guards as TOML"),
        ("[Python](python/README.md)", "what each package exports"),
    )
    said = "Written from the code, and tested to be in step with it."
    return page("Reference", said, table(("page", "what it has"), rows))


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None

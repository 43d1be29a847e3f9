"""The page docs/commands.md, made from the registry: `python -m recipes.reference` writes it."""

import re
from collections.abc import Iterator
from pathlib import Path

from recipes.fields import Field, fields_of
from recipes.registry import GROUPS, RECIPES, Recipe

PAGE = Path("docs/commands.md")
_HEAD = (
    "# Commands\n\nWritten by `python -m recipes.reference` from the code. `webagent NAME --help`"
    " has the settings with their defaults; [the command line](command-line.md) says what holds"
    " for all of them: `--json`, exit statuses, completion.\n"
)


def page() -> str:
    """Every recipe by group: examples, settings, and what `--json` prints."""
    return "\n".join([_HEAD, *(text for group in GROUPS for text in _group(group))]) + "\n"


def _group(group: str) -> Iterator[str]:
    yield f"## {GROUPS[group]}\n"
    for name, recipe in RECIPES.items():
        if recipe.group == group:
            yield from _recipe(name, recipe)


def _recipe(name: str, recipe: Recipe) -> Iterator[str]:
    yield f"### `webagent {name}`: {recipe.summary}\n"
    yield "```\n" + "\n".join(recipe.examples) + "\n```\n"
    settings = fields_of(recipe.settings)
    yield "| setting | what it is |\n| --- | --- |"
    yield from (_row(f"--{each.name}" * (not each.is_positional), each) for each in settings)
    yield "\n| `--json` prints | what it is |\n| --- | --- |"
    yield from (_row(each.name.replace("-", "_"), each) for each in fields_of(recipe.facts))
    yield ""


def _row(name: str, field: Field) -> str:
    told = re.sub(r"\|", "\\|", field.doc or field.type)
    return f"| `{name or field.name.upper()}` | {told} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

"""What may stand where on a line: recipes, flags, their values and what needs no flag."""

from collections.abc import Iterator
from dataclasses import dataclass

from recipes.command_line.fields import Field, fields_of
from recipes.command_line.registry import RECIPES

RUNS = "@runs"
"""Stands for the folders in `runs` that hold a run."""
FILES = "@files"


@dataclass(frozen=True, slots=True)
class Completed:
    """One recipe as shells see it."""

    name: str
    summary: str
    flags: tuple[Field, ...]
    positional: tuple[str, ...]
    """What may stand where no flag asks for a value."""


def recipes() -> Iterator[Completed]:
    """All of them, in the order of the registry."""
    for name, recipe in RECIPES.items():
        fields = fields_of(recipe.settings)
        standing = [each for each in fields if each.is_positional or each.name == recipe.leads]
        words = tuple(word for field in standing for word in values(name, field))
        flags = tuple(field for field in fields if not field.is_positional)
        yield Completed(name, recipe.summary, flags, words)


def values(recipe: str, field: Field) -> tuple[str, ...]:
    """What a field may be: words, RUNS or FILES."""
    if field.name == "benchmark":
        from benchmarks.catalogue import BENCHMARKS

        return tuple(BENCHMARKS)
    if (field.name == "site" and recipe == "propose") or (recipe, field.name) == ("site", "name"):
        from benchmarks.discovery import collect

        return tuple(key.partition("@")[0] for key in collect("SITES"))
    if field.choices:
        return field.choices
    if field.is_run:
        return (RUNS,)
    return (FILES,) if field.is_path else ()

"""The script for fish."""

import re
from collections.abc import Sequence

from recipes.command_line.completion.words import FILES, RUNS, recipes, values


def fish() -> str:
    """A line for each recipe, flag and value."""
    lines = ["complete -c webagent -f"]
    for recipe in recipes():
        summary = _told(recipe.summary)
        lines.append(f"complete -c webagent -n __fish_use_subcommand -a {recipe.name} -d {summary}")
        here = f"complete -c webagent -n '__fish_seen_subcommand_from {recipe.name}'"
        if recipe.positional:
            lines.append(f"{here} -a {_written(recipe.positional)}")
        for field in recipe.flags:
            told = values(recipe.name, field)
            takes = "" if field.is_switch else f" -r -a {_written(told)}" if told else " -x"
            lines.append(f"{here} -l {field.name} -d {_told(field.doc)}{takes}")
        lines += [f"{here} -l json", f"{here} -l help", f"{here} -l config -r"]
    return "\n".join(lines)


def _written(words: Sequence[str]) -> str:
    """Words as fish takes them; folders of runs and files are looked for when they are wanted."""
    files = "(__fish_complete_path)"
    found = {RUNS: f"(path dirname runs/*/run.json) {files}", FILES: files}
    return f"'{' '.join(found.get(value, value) for value in words)}'"


def _told(text: str) -> str:
    """The first clause of a docstring, quoted for fish."""
    clause = re.split(r"[.;:](?= |$)", text)[0]
    return "'" + clause.replace("\\", "").replace("'", "\\'") + "'"

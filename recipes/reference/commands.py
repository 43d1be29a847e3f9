"""A page for each recipe: its settings as its dataclass has them."""

import ast
import re
from collections.abc import Iterator

from recipes.command_line.registry import GROUPS, RECIPES, Recipe
from recipes.reference.markdown import code, page, quoted, table
from recipes.reference.source import (
    Field,
    Found,
    fields_of,
    find,
    is_dataclass,
    tree_of,
)

HEADS = ("setting", "value", "default", "what it is for")
_FLAT = "OmitArgPrefixes["
"""How a dataclass is marked whose fields are flags beside the others."""
_WORDS = {"int": "whole number", "float": "number", "str": "text", "Path": "path"}


def command_pages() -> dict[str, str]:
    """Name of the file to its text; `README.md` lists the others."""
    pages = {f"{name}.md": _page(name, recipe) for name, recipe in RECIPES.items()}
    groups = [f"## {heading}\n\n{_listed(group)}" for group, heading in GROUPS.items()]
    return {"README.md": page("Commands", *groups, _PLACES), **pages}


_PLACES = (
    "## Settings\n\nA setting comes from its flag; else from the environment, as "
    "`WEBAGENT_BENCHMARK_SEEDS=5`; else from the command's table in `webagent.toml`, or in the "
    "file given with `--config`; else from a preset where there are presets; else from its "
    "default. A list is written with spaces, in the environment with spaces or commas. "
    "`--json`, exit statuses and errors: [the command line](../../command-line.md)."
)


def _listed(group: str) -> str:
    chosen = [(name, each) for name, each in RECIPES.items() if each.group == group]
    rows = [(f"[`webagent {name}`]({name}.md)", each.summary) for name, each in chosen]
    return table(("command", "what it does"), rows)


def _page(name: str, recipe: Recipe) -> str:
    settings, facts = settings_of(name), _at(recipe.facts)
    rows = list(_rows(settings))
    placed = "".join(f" [{row[0].strip('`')}]" for row in rows if not row[0].startswith("`--"))
    usage = code(f"webagent {name}{placed} [settings]", "text")
    presets = _presets(recipe)
    chosen = f"Presets, by `--preset`: {', '.join(map(quoted, presets))}." if presets else ""
    from_environment = quoted(f"WEBAGENT_{name}_SETTING".upper().replace("-", "_"))
    places = (
        f"Each setting may stand in the environment as {from_environment} or in the table "
        f"`[{name}]` of `webagent.toml`."
    )
    told = table(
        ("fact", "type", "meaning"),
        [(quoted(f.name), quoted(f.annotation), f.doc) for f in fields_of(facts)],
    )
    return page(
        f"webagent {name}",
        settings.doc,
        usage,
        code("\n".join(recipe.examples), "text"),
        table(HEADS, rows),
        chosen,
        places if rows else "",
        f"## What `--json` prints\n\n{facts.doc}\n\n{told}" if told else "",
    )


def settings_of(name: str) -> Found:
    """The dataclass of a command's settings."""
    return _at(RECIPES[name].settings)


def _at(place: str) -> Found:
    module, name = place.split(":")
    return find(module, name)


def _presets(recipe: Recipe) -> tuple[str, ...]:
    """The names of the presets that the command hands to `resolve`, where it hands over any."""
    module = _at(recipe.entry).module
    for node in ast.walk(tree_of(module)):
        is_resolving = isinstance(node, ast.Call) and ast.unparse(node.func) == "resolve"
        if is_resolving and isinstance(node, ast.Call) and len(node.args) == 4:
            found = find(module, ast.unparse(node.args[3])).node
            if isinstance(found, ast.Assign) and isinstance(found.value, ast.Dict):
                return tuple(ast.literal_eval(key) for key in found.value.keys if key is not None)
    return ()


def _rows(settings: Found, prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    for field in fields_of(settings):
        nested = _nested(settings.module, field)
        if nested is None:
            default = _default(_written(settings.module, field.default or ""))
            yield _flag(field, prefix), _value(field), default, field.doc
        elif field.default != "None":  # a command line cannot make one where there is none
            inner = "" if field.annotation.startswith(_FLAT) else f"{_dashed(field.name)}."
            yield from _rows(nested, f"{prefix}{inner}")


def _nested(module: str, field: Field) -> Found | None:
    """The dataclass whose fields are flags of their own, where the field is one."""
    name = field.annotation.removeprefix(_FLAT).rstrip("]").removesuffix(" | None")
    if not re.fullmatch(r"[A-Z]\w+", name) or name == "Path":
        return None
    found = find(module, name)
    return found if is_dataclass(found) else None


def _flag(field: Field, prefix: str) -> str:
    if "Positional" in field.annotation and "name=" not in field.annotation:
        return quoted(field.name.upper())
    named = re.search(r"name='([\w-]+)'", field.annotation)
    flag = f"{prefix}{named[1] if named else _dashed(field.name)}"
    if _bare(field.annotation) != "bool":
        return quoted(f"--{flag}")
    start, dot, last = flag.rpartition(".")
    return f"{quoted(f'--{flag}')}, {quoted(f'--{start}{dot}no-{last}')}"


def _value(field: Field) -> str:
    bare = _bare(field.annotation)
    if bare.startswith("Literal["):
        return " or ".join(quoted(str(each)) for each in ast.literal_eval(bare[7:]))
    many = re.fullmatch(r"(?:tuple|list)\[(\w+)(?:, \.\.\.)?\]", bare)
    if many:
        return f"{_WORDS.get(many[1], many[1])} …"
    return "" if bare == "bool" else _WORDS.get(bare, quoted(bare))


def _bare(annotation: str) -> str:
    """The type itself, without what says how it is written."""
    inner = re.sub(r"^(?:Annotated|Positional|tyro\.conf\.Positional)\[(.*)\]$", r"\1", annotation)
    if inner != annotation and annotation.startswith("Annotated"):
        return _bare(ast.unparse(ast.parse(inner).body[0].value.elts[0]))  # type: ignore[attr-defined]
    return inner.removesuffix(" | None")


def _written(module: str, text: str) -> str:
    """A default as it is written, also where a name stands for it."""
    node = find(module, text).node if re.fullmatch(r"_?[A-Z][A-Z_]+", text) else None
    value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    return ast.unparse(value) if value is not None else text


def _default(text: str) -> str:
    if text in ("None", "''", "()", "Path()", "") or text.startswith("field("):
        return ""
    text = re.sub(r"^Path\('(.*)'\)$", r"\1", text)
    node = ast.parse(text, mode="eval").body if text.startswith("(") else None
    if isinstance(node, ast.Tuple) and all(isinstance(each, ast.Constant) for each in node.elts):
        return quoted(" ".join(map(str, ast.literal_eval(node))))
    return quoted({"True": "yes", "False": "no"}.get(text, text.strip("'")))


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _shown(cell: str) -> str:
    return cell.strip("`")

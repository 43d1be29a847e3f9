"""A page for each recipe: its settings as its dataclass has them."""

import ast
import re
from collections.abc import Iterator

from recipes.cli import RECIPES
from recipes.reference.markdown import code, page, quoted, table
from recipes.reference.source import (
    Field,
    Found,
    fields_of,
    find,
    is_dataclass,
    tree_of,
)
from webagent.errors import SetupError

HEADS = ("setting", "value", "default", "what it is for")
_FLAT = "OmitArgPrefixes["
"""How a dataclass is marked whose fields are flags beside the others."""
_WORDS = {"int": "whole number", "float": "number", "str": "text", "Path": "path"}


def command_pages() -> dict[str, str]:
    """Name of the file to its text; `README.md` lists the others."""
    pages = {f"{name}.md": _page(name) for name in RECIPES}
    rows = [(f"[`webagent {n}`]({n}.md)", each.summary) for n, each in RECIPES.items()]
    listed = table(("command", "what it does"), rows)
    return {"README.md": page("Commands", listed, _PLACES), **pages}


_PLACES = (
    "A setting comes from its flag; else from the environment, as `WEBAGENT_BENCHMARK_SEEDS=5`; "
    "else from the command's table in `webagent.toml`, or in the file given with `--config`; else "
    "from a preset where there are presets; else from its default. A list is written with spaces, "
    "in the environment with spaces or commas.\n\n"
    "Every command returns 0 when it did what was asked, 1 with a sentence when not, 2 for a wrong "
    "command line and 130 after Ctrl-C. `WEBAGENT_DEBUG=1` shows tracebacks."
)


def _page(name: str) -> str:
    settings, presets = settings_of(name)
    rows = list(_rows(settings))
    placed = "".join(f" [{_shown(row[0])}]" for row in rows if not row[0].startswith("`--"))
    usage = code(f"webagent {name}{placed} [settings]", "text")
    chosen = f"Presets, by `--preset`: {', '.join(map(quoted, presets))}." if presets else ""
    from_environment = quoted(f"WEBAGENT_{name}_SETTING".upper().replace("-", "_"))
    places = (
        f"Each setting may stand in the environment as {from_environment} or in the table "
        f"`[{name}]` of `webagent.toml`."
    )
    return page(
        f"webagent {name}", settings.doc, usage, table(HEADS, rows), chosen, places if rows else ""
    )


def settings_of(name: str) -> tuple[Found, tuple[str, ...]]:
    """The dataclass that a recipe hands to `resolve`, and the names of its presets.

    Raises `SetupError` where its module hands over none.
    """
    module, function = RECIPES[name].entry.split(":")
    place = find(module, function).module
    for node in ast.walk(tree_of(place)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "resolve" and node.args:
            found = find(place, ast.unparse(node.args[0]))
            return found, _presets(place, node)
    raise SetupError(f"{place} does not hand its settings to `resolve`, so none can be told")


def _presets(module: str, call: ast.Call) -> tuple[str, ...]:
    if len(call.args) < 4:
        return ()
    value = find(module, ast.unparse(call.args[3])).node
    keys = value.value.keys if isinstance(getattr(value, "value", None), ast.Dict) else []  # type: ignore[union-attr]
    return tuple(ast.literal_eval(key) for key in keys if key is not None)


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

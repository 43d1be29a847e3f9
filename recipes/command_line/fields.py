"""The fields of settings and facts, read from their source: nothing is imported, so it is quick."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LIST = re.compile(r"`([^`\s]+)`((?:,? (?:or )?|, )`[^`\s]+`)+")
_RUN = re.compile(
    r"(The run\b|Folders? of (a run|the runs?|earlier runs|a measurement|an earlier))"
)


@dataclass(frozen=True, slots=True)
class Field:
    """One setting, or one fact."""

    name: str
    """As it is written on a command line, without dashes in front: `max-cost`, `train.seed`."""
    type: str
    """As it is annotated."""
    doc: str
    is_positional: bool = False
    choices: tuple[str, ...] = ()
    """What it may be, where that is one of a few; for text what its docstring lists."""

    @property
    def is_switch(self) -> bool:
        """Whether the flag takes no value."""
        return self.type == "bool"

    @property
    def is_path(self) -> bool:
        """Whether its value is a file or a folder."""
        return "Path" in self.type

    @property
    def is_run(self) -> bool:
        """Whether its value is the folder of a run."""
        return self.is_path and bool(_RUN.match(self.doc))


@dataclass(frozen=True, slots=True)
class _Place:
    """A name at the top of a module."""

    module: str
    name: str


def fields_of(place: str) -> tuple[Field, ...]:
    """The fields of the class at `module:Class`, those of classes it holds or extends included."""
    module, name = place.split(":")
    return tuple(_fields(_Place(module, name), ""))


def keys_of(place: str) -> tuple[str, ...]:
    """The keys of the dictionary that is written at `module:NAME`."""
    module, name = place.split(":")
    value = _assigned(_Place(module, name))
    if not isinstance(value, ast.Dict):
        return ()
    return tuple(str(key.value) for key in value.keys if isinstance(key, ast.Constant))


def _fields(place: _Place, prefix: str) -> Iterator[Field]:
    found = _found(place)
    if found is None or not isinstance(found[1], ast.ClassDef):
        return
    home, node = found[0], found[1]
    assert isinstance(node, ast.ClassDef)
    for base in node.bases:
        if isinstance(base, ast.Name):
            yield from _fields(_Place(home, base.id), prefix)
    for statement, following in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield from _field(home, statement, _doc(following), prefix)


def _field(home: str, node: ast.AnnAssign, doc: str, prefix: str) -> Iterator[Field]:
    """The field, or those of the class that it holds."""
    assert isinstance(node.target, ast.Name)
    inner, marks = _unwrapped(node.annotation)
    name = f"{prefix}{_named(marks) or node.target.id}".replace("_", "-")
    if isinstance(inner, ast.Name):
        held = _found(_Place(home, inner.id))
        if held and isinstance(held[1], ast.ClassDef) and _is_dataclass(held[1]):
            below = prefix if _is_marked(marks, "OmitArgPrefixes") else f"{name}."
            yield from _fields(_Place(home, inner.id), below)
            return
    written = ast.unparse(inner)
    choices = _literal(home, inner) or (_listed(doc) if "str" in written else ())
    yield Field(name, written, doc, _is_marked(marks, "Positional"), choices)


def _unwrapped(node: ast.expr) -> tuple[ast.expr, list[ast.expr]]:
    """The annotation without tyro's marks, and these."""
    if not isinstance(node, ast.Subscript):
        return node, []
    outer = ast.unparse(node.value)
    if outer.endswith("Annotated") and isinstance(node.slice, ast.Tuple):
        return node.slice.elts[0], list(node.slice.elts[1:])
    if outer.endswith(("Positional", "OmitArgPrefixes", "NotRequired")):
        return node.slice, [node.value]
    return node, []


def _is_marked(marks: list[ast.expr], name: str) -> bool:
    return any(ast.unparse(mark).endswith(name) for mark in marks)


def _named(marks: list[ast.expr]) -> str:
    """The name given by `arg(name=...)`."""
    calls = [mark for mark in marks if isinstance(mark, ast.Call)]
    given = [word.value for call in calls for word in call.keywords if word.arg == "name"]
    return next((str(value.value) for value in given if isinstance(value, ast.Constant)), "")


def _literal(home: str, node: ast.expr) -> tuple[str, ...]:
    """What a Literal allows, also where it has a name of its own."""
    if isinstance(node, ast.Name) and node.id[0].isupper():
        found = _found(_Place(home, node.id))
        value = found[1] if found else None
        if isinstance(value, ast.AnnAssign | ast.Assign) and value.value is not None:
            node = value.value
    if not (isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"):
        return ()
    return tuple(str(each.value) for each in ast.walk(node.slice) if isinstance(each, ast.Constant))


def _listed(doc: str) -> tuple[str, ...]:
    """The alternatives that a docstring lists: words in backquotes with commas and `or`."""
    found = _LIST.search(doc)
    words = re.findall(r"`([^`\s]+)`", found[0]) if found else []
    return tuple(word for word in words if re.fullmatch(r"[a-z][a-z0-9_-]*", word))


def _doc(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(str(node.value.value).split())
    return ""


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any(ast.unparse(mark).startswith("dataclass") for mark in node.decorator_list)


def _assigned(place: _Place) -> ast.expr | None:
    found = _found(place)
    return found[1].value if found and isinstance(found[1], ast.Assign | ast.AnnAssign) else None


def _found(place: _Place) -> tuple[str, ast.stmt] | None:
    """Where a name is defined, following imports inside these packages, and its definition."""
    names = _names(place.module)
    node = names.get(place.name)
    if not isinstance(node, ast.ImportFrom):
        return (place.module, node) if node is not None else None
    inside = node.module and (ROOT / node.module.split(".")[0]).is_dir()
    return _found(_Place(node.module or "", place.name)) if inside else None


@cache
def _names(module: str) -> dict[str, ast.stmt]:
    """Every name at the top of a module, with the statement that gives it."""
    path = ROOT / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    names: dict[str, ast.stmt] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        match node:
            case ast.ImportFrom():
                names |= {alias.asname or alias.name: node for alias in node.names}
            case ast.ClassDef():
                names[node.name] = node
            case (
                ast.Assign(targets=[ast.Name() as target])
                | ast.AnnAssign(target=ast.Name() as target)
            ):
                names[target.id] = node
    return names

"""The code as it is written: where a name is defined, its fields, its docstrings."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from webagent.errors import SetupError

ROOT = Path(__file__).parents[2]
Defined: TypeAlias = (
    ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Assign | ast.AnnAssign
)


@dataclass(frozen=True, slots=True)
class Found:
    """A definition, with the module that has it and what is said below it."""

    module: str
    node: Defined
    below: str = ""
    """The text under an assignment; classes and functions have theirs inside."""

    @property
    def doc(self) -> str:
        """Its docstring, empty where it has none."""
        if isinstance(self.node, ast.Assign | ast.AnnAssign):
            return self.below
        return ast.get_docstring(self.node) or ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a dataclass."""

    name: str
    annotation: str
    default: str | None
    """As it is written; None for a field that has to be given."""
    doc: str


@cache
def tree_of(module: str) -> ast.Module:
    """The parsed module. Raises `SetupError` where there is none."""
    place = ROOT.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return ast.parse(path.read_text(encoding="utf-8"))
    raise SetupError(f"there is no module {module} in {ROOT}")


def find(module: str, name: str) -> Found:
    """Where a name of a module is defined, followed through imports. Raises `SetupError`."""
    body = list(_opened(tree_of(module).body))
    for place, node in enumerate(body):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    is_own = node.module == module
                    found = None if is_own else _known(node.module, alias.name)
                    return found or _module(f"{node.module}.{alias.name}")
        if name in _names(node):
            assert isinstance(node, Defined)
            return Found(module, node, _text(body[place + 1 : place + 2]))
    raise SetupError(f"{module} has no {name}")


def fields_of(found: Found) -> Iterator[Field]:
    """The fields of a dataclass, in order."""
    assert isinstance(found.node, ast.ClassDef)
    body = found.node.body
    for place, node in enumerate(body):
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
            continue
        annotation = ast.unparse(node.annotation)
        if annotation.startswith("ClassVar"):
            continue
        default = None if node.value is None else ast.unparse(node.value)
        yield Field(node.target.id, annotation, default, _text(body[place + 1 : place + 2]))


def is_dataclass(found: Found) -> bool:
    """Whether the class is decorated as one."""
    return isinstance(found.node, ast.ClassDef) and any(
        "dataclass" in ast.unparse(each) for each in found.node.decorator_list
    )


def exported(module: str) -> tuple[str, ...]:
    """The names in `__all__`, empty where there is none."""
    for node in tree_of(module).body:
        if "__all__" in _names(node) and isinstance(node, ast.Assign):
            return tuple(ast.literal_eval(node.value))
    return ()


def first_sentence(doc: str) -> str:
    """The first paragraph, on one line."""
    return " ".join(doc.split("\n\n", 1)[0].split())


def _opened(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under `if TYPE_CHECKING` included."""
    for node in body:
        if isinstance(node, ast.If):
            yield from node.body
        else:
            yield node


def _known(module: str, name: str) -> Found | None:
    try:
        return find(module, name)
    except SetupError:
        return None


def _module(module: str) -> Found:
    """A module that is exported as a whole."""
    doc = ast.get_docstring(tree_of(module)) or ""
    return Found(module, ast.Assign([ast.Name(module)], ast.Constant(None)), doc)


def _names(node: ast.stmt) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return (node.name,)
    targets = node.targets if isinstance(node, ast.Assign) else []
    targets = [node.target] if isinstance(node, ast.AnnAssign) else targets
    return tuple(each.id for each in targets if isinstance(each, ast.Name))


def _text(nodes: list[ast.stmt]) -> str:
    """The string that stands under a definition, on one line."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return " ".join(str(node.value.value).split())
    return ""

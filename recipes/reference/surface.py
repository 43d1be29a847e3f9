"""A page for each package: what it exports, with signatures and docstrings."""

import ast
from collections.abc import Iterator

from recipes.reference.markdown import code, page, table
from recipes.reference.source import ROOT, Found, exported, fields_of, find, is_dataclass, tree_of

PACKAGES = (
    *("tasks", "webagent", "evaluators", "worldmodel"),
    *("benchmarks", "loop", "apps", "recipes"),
)
_SIMPLE = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp, ast.Tuple)


def surface_pages() -> dict[str, str]:
    """Name of the file to its text; `README.md` lists the modules."""
    pages = {f"{package}.md": _page(package) for package in PACKAGES}
    rows = [
        (
            f"[`{module}`]({package}.md)",
            _said(module),
            ", ".join(f"`{n}`" for n in exported(module)),
        )
        for package in PACKAGES
        for module in _modules(package)
    ]
    listed = table(("module", "what it is for", "exports"), rows)
    said = (
        "What each package exports by `__all__`. Everything else may change without a word. "
        "Importing a package loads neither torch nor Playwright."
    )
    return {"README.md": page("Python", said, listed), **pages}


def _page(package: str) -> str:
    parts = []
    for module in _modules(package):
        parts += [f"## {module}", _said(module)]
        parts += [_entry(module, name) for name in exported(module) if name != "main"]
    return page(f"The package {package}", *parts)


def _modules(package: str) -> Iterator[str]:
    """The packages that export something, from the top."""
    for path in sorted((ROOT / package).rglob("__init__.py")):
        module = ".".join(path.parent.relative_to(ROOT).parts)
        if exported(module) not in ((), ("main",)):
            yield module


def _said(module: str) -> str:
    return " ".join((ast.get_docstring(tree_of(module)) or "").split())


def _entry(module: str, name: str) -> str:
    found = find(module, name)
    parts = [f"### {name}", f"In `{found.module}`." if found.module != module else ""]
    if isinstance(found.node, ast.ClassDef):
        parts += [code(_class(found)), found.doc, _members(found)]
    elif isinstance(found.node, ast.FunctionDef | ast.AsyncFunctionDef):
        parts += [code(_signature(found.node)), found.doc]
    else:
        parts += [found.doc]
    return "\n\n".join(filter(None, parts))


def _class(found: Found) -> str:
    """Its first line, with the fields of a dataclass as arguments."""
    assert isinstance(found.node, ast.ClassDef)
    bases = [ast.unparse(each) for each in found.node.bases]
    start = f"class {found.node.name}"
    if is_dataclass(found):
        given = [f"{f.name}: {f.annotation}{_default(f.default)}" for f in fields_of(found)]
        return _folded(start, given, "")
    return f"{start}({', '.join(bases)})" if bases else start


def _members(found: Found) -> str:
    """The fields that are explained, and the methods."""
    assert isinstance(found.node, ast.ClassDef)
    rows = [(f"`{f.name}`", f.doc) for f in fields_of(found) if f.doc]
    methods = [
        code(_signature(node)) + f"\n\n{ast.get_docstring(node)}"
        for node in found.node.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and ast.get_docstring(node)
    ]
    return "\n\n".join(filter(None, [table(("field", "meaning"), rows), *methods]))


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    kind = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    marks = [f"@{ast.unparse(each)}\n" for each in node.decorator_list]
    shown = [
        mark for mark in marks if mark.strip() in ("@property", "@classmethod", "@staticmethod")
    ]
    back = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return "".join(shown) + _folded(f"{kind} {node.name}", _arguments(node.args), back)


def _arguments(given: ast.arguments) -> list[str]:
    """One text for each, as it is written, with the marks between kinds."""
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    texts = [_argument(a, d) for a, d in zip(plain, defaults, strict=True)]
    if given.posonlyargs:
        texts.insert(len(given.posonlyargs), "/")
    if given.vararg:
        texts.append(f"*{ast.unparse(given.vararg)}")
    elif given.kwonlyargs:
        texts.append("*")
    texts += [_argument(a, d) for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True)]
    return [*texts, f"**{ast.unparse(given.kwarg)}"] if given.kwarg else texts


def _argument(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + _default(None if default is None else ast.unparse(default))


def _default(text: str | None) -> str:
    if text is None:
        return ""
    is_simple = isinstance(ast.parse(text, mode="eval").body, _SIMPLE)
    return f" = {text if is_simple else '...'}"


def _folded(start: str, given: list[str], back: str) -> str:
    """On one line where it fits, else a line for each argument."""
    line = f"{start}({', '.join(given)}){back}"
    if len(line) <= 100:
        return line
    return f"{start}(\n" + "".join(f"    {each},\n" for each in given) + f"){back}"

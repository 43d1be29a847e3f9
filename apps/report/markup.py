"""HTML put together so that text is always escaped: only `Markup` passes as it is."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

Child: TypeAlias = "str | Iterable[Child]"

_VOID = {"line", "circle", "path", "rect", "polyline", "col"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()

    def __html__(self) -> str:
        """The text as it is, for templates that escape whatever has not this method."""
        return str(self)


def tag(name: str, *children: Child, **attributes: str | float | bool) -> Markup:
    """An element. `class_` is `class`, other underscores are hyphens; False leaves it out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value != "")
    if name in _VOID:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(children: Child) -> Markup:
    """Markup as it is, text escaped, anything else in its order."""
    if isinstance(children, Markup):
        return children
    if isinstance(children, str):
        return Markup(escape(_visible(children)))
    return Markup("".join(map(joined, children)))


def _attribute(name: str, value: str | float | bool) -> str:
    name = name.rstrip("_").replace("_", "-")
    if isinstance(value, bool):
        return f" {name}" if value else ""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f' {name}="{escape(_visible(text))}"'


def _visible(text: str) -> str:
    """Text that can be written as UTF-8, without the control characters HTML forbids."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c in "\n\t" or ord(c) >= 32 else "\N{REPLACEMENT CHARACTER}" for c in text)

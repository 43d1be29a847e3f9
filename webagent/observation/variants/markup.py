"""A page's HTML for a model, cleaned."""

import html
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup
from bs4.element import Comment, NavigableString, Tag

from webagent.observation.render import on_one_line

_KEPT = {
    *("alt", "checked", "colspan", "disabled", "for", "href", "id", "label", "mark", "multiple"),
    *("name", "placeholder", "readonly", "required", "role", "rowspan", "selected", "src"),
    *("title", "type", "value"),
}
_NOISE = ("script", "style", "noscript", "template", "link", "meta", "head")
_WRAPPERS = {"div", "span", "font", "center"}
_EMPTY = {"img", "input", "br", "hr", "iframe", "canvas", "video", "audio", "textarea", "td", "th"}
_LONGEST_VALUE = 120


def clean_html(markup: str) -> str:
    """Return HTML with only the attributes that say what an element is or does, marks among them.

    Scripts, styles, comments and empty elements are left out, wrappers that say nothing unwrapped;
    one element a line, text with its element, indented by nesting.
    """
    soup = BeautifulSoup(markup, "html.parser")
    for noise in soup.find_all(_NOISE):
        noise.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for element in reversed(soup.find_all(True)):
        has_text, kept = bool(element.get_text(strip=True)), dict[str, Any]()
        for name, value in element.attrs.items():
            text = " ".join(value) if isinstance(value, list) else str(value)
            is_inline = name in ("href", "src") and text.startswith(("data:", "javascript:"))
            # The class of an element without text, such as an icon, says what it is.
            is_telling = name == "class" and not has_text and element.has_attr("mark")
            if not is_inline and (name in _KEPT or name.startswith("aria-") or is_telling):
                is_long = len(text) > _LONGEST_VALUE
                kept[name] = text[: _LONGEST_VALUE - 1] + "…" if is_long else text
        element.attrs = kept
        children = [child for child in element.contents if not _is_blank(child)]
        if element.name in _WRAPPERS and not element.attrs and len(children) <= 1:
            element.unwrap()
        elif not element.attrs and element.name not in _EMPTY and not element.contents:
            element.decompose()
    return "\n".join(line for child in soup.children for line in _lines(child, 0))


def _is_blank(node: object) -> bool:
    return isinstance(node, NavigableString) and not node.strip()


def _lines(node: object, depth: int) -> Iterator[str]:
    indent = " " * depth
    if isinstance(node, NavigableString):
        if text := " ".join(node.split()):
            yield indent + html.escape(text, quote=False)
    elif isinstance(node, Tag):
        children = [child for child in node.contents if not _is_blank(child)]
        attributes = ""
        for name, value in node.attrs.items():
            text = html.escape(on_one_line(str(value)), quote=False).replace('"', "&quot;")
            attributes += f' {name}="{text}"' if text else f" {name}"
        start = f"{indent}<{node.name}{attributes}>"
        if all(isinstance(child, NavigableString) for child in children):
            text = " ".join(" ".join(str(child) for child in children).split())
            text = html.escape(text, quote=False)
            yield start if node.is_empty_element else f"{start}{text}</{node.name}>"
            return
        yield start
        for child in children:
            yield from _lines(child, depth + 1)
        yield f"{indent}</{node.name}>"

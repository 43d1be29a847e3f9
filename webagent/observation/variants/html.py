"""A page's HTML without what only a browser needs."""

from collections.abc import Iterator

from bs4 import BeautifulSoup
from bs4.element import Comment, NavigableString, Tag

_KEPT = {
    *("alt", "checked", "colspan", "disabled", "for", "href", "id", "label", "mark", "multiple"),
    *("name", "placeholder", "readonly", "required", "role", "rowspan", "selected", "src"),
    *("title", "type", "value"),
}
_ALSO_KEPT = ("aria-",)
_NOISE = ("script", "style", "noscript", "template", "link", "meta", "head")
_WRAPPERS = {"div", "span", "font", "center"}
_EMPTY = {"img", "input", "br", "hr", "iframe", "canvas", "video", "audio", "textarea", "td", "th"}
_LONGEST_VALUE = 120


def parse(markup: str) -> BeautifulSoup:
    """The page's elements without scripts, styles and comments."""
    soup = BeautifulSoup(markup, "html.parser")
    for noise in soup.find_all(_NOISE):
        noise.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    return soup


def clean_html(markup: str) -> str:
    """HTML with only the attributes that say what an element is or does, marks among them.

    Wrappers that say nothing are unwrapped and empty elements dropped; one element a line, text
    with its element, indented by nesting.
    """
    soup = parse(markup)
    for element in reversed(soup.find_all(True)):
        element.attrs = dict(_attributes(element))
        if (
            element.name in _WRAPPERS
            and not element.attrs
            and (sum(1 for child in element.contents if not _is_blank(child)) <= 1)
        ):
            element.unwrap()
        elif not element.attrs and element.name not in _EMPTY and not element.contents:
            element.decompose()
    return "\n".join(line for child in soup.children for line in _lines(child, 0))


def _attributes(element: Tag) -> Iterator[tuple[str, str]]:
    speaks = bool(element.get_text(strip=True))
    for name, value in element.attrs.items():
        text = " ".join(value) if isinstance(value, list) else str(value)
        says_what_it_is = name == "class" and not speaks and element.has_attr("mark")
        if name in _KEPT or name.startswith(_ALSO_KEPT) or says_what_it_is:
            if name in ("href", "src") and text.startswith(("data:", "javascript:")):
                continue
            is_long = len(text) > _LONGEST_VALUE
            yield name, text[: _LONGEST_VALUE - 1] + "…" if is_long else text


def _is_blank(node: object) -> bool:
    return isinstance(node, NavigableString) and not node.strip()


def _lines(node: object, depth: int) -> Iterator[str]:
    indent = " " * depth
    if isinstance(node, NavigableString):
        if text := " ".join(node.split()):
            yield indent + _escaped(text)
    elif isinstance(node, Tag):
        children = [child for child in node.contents if not _is_blank(child)]
        start = f"{indent}<{node.name}{''.join(_written(*item) for item in node.attrs.items())}>"
        if all(isinstance(child, NavigableString) for child in children):
            text = _escaped(" ".join(" ".join(str(child) for child in children).split()))
            yield start if node.is_empty_element else f"{start}{text}</{node.name}>"
            return
        yield start
        for child in children:
            yield from _lines(child, depth + 1)
        yield f"{indent}</{node.name}>"


def _written(name: str, value: object) -> str:
    text = _escaped(str(value)).replace('"', "&quot;")
    return f' {name}="{text}"' if text else f" {name}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

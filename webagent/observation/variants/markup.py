"""A page's HTML for a model: cleaned, or as Markdown."""

import html
import re
from collections.abc import Iterator

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


def parse(markup: str) -> BeautifulSoup:
    """Return the page's elements without scripts, styles and comments."""
    soup = BeautifulSoup(markup, "html.parser")
    for noise in soup.find_all(_NOISE):
        noise.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    return soup


def clean_html(markup: str) -> str:
    """Return HTML with only the attributes that say what an element is or does, marks among them.

    Wrappers that say nothing are unwrapped and empty elements dropped; one element a line, text
    with its element, indented by nesting.
    """
    soup = parse(markup)
    for element in reversed(soup.find_all(True)):
        element.attrs = dict(_keep_attributes(element))
        children = [child for child in element.contents if not _is_blank(child)]
        if element.name in _WRAPPERS and not element.attrs and len(children) <= 1:
            element.unwrap()
        elif not element.attrs and element.name not in _EMPTY and not element.contents:
            element.decompose()
    return "\n".join(line for child in soup.children for line in _lines(child, 0))


def _keep_attributes(element: Tag) -> Iterator[tuple[str, str]]:
    has_text = bool(element.get_text(strip=True))
    for name, value in element.attrs.items():
        text = " ".join(value) if isinstance(value, list) else str(value)
        # The class of an element without text, such as an icon, says what it is.
        is_telling = name == "class" and not has_text and element.has_attr("mark")
        if name in _KEPT or name.startswith("aria-") or is_telling:
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


_BLOCKS = {
    *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog"),
    *("div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3"),
    *("h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section"),
    *("summary", "table", "ul", "iframe", "html"),
}
_FIELDS = {"input", "select", "textarea", "button"}
_EMPHASIS = {"strong": "**", "b": "**", "em": "*", "i": "*", "code": "`"}
_LINE_BREAK = "\v"
"""A break that the page asks for; other ends of lines in its source are blanks."""


def to_markdown(markup: str) -> str:
    """Return the page as Markdown; `[12]` stands before what has that mark."""
    blocks = [block for block in _blocks(parse(markup), 0) if block.strip()]
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(blocks)).strip()


def _blocks(parent: Tag, depth: int) -> Iterator[str]:
    """Yield the blocks of an element; what stands between them in the line is a paragraph."""
    inline: list[str] = []
    for child in parent.children:
        if isinstance(child, Tag) and (
            child.name in _BLOCKS
            or (child.name not in _FIELDS and child.find(list(_BLOCKS)) is not None)
        ):
            yield _joined(inline)
            inline = []
            yield from _block(child, depth)
        else:
            inline.append(_inline(child))
    yield _joined(inline)


def _block(element: Tag, depth: int) -> Iterator[str]:
    name = element.name
    if re.fullmatch("h[1-6]", name):
        text = _text_of(element)
        yield f"{'#' * int(name[1])} {text}" if text else ""
    elif name in ("ul", "ol"):
        items = [child for child in element.children if isinstance(child, Tag)]
        lines: list[str] = []
        for number, item in enumerate(items, start=1):
            bullet = f"{number}." if name == "ol" else "-"
            blocks = [block for block in _blocks(item, depth + 1) if block.strip()]
            inner = [line for block in blocks for line in _split(block)]
            if head := " ".join(filter(None, (_mark(item), *inner[:1]))):
                lines.append(f"{bullet} {head}")
            lines += [f"  {line}" for line in inner[1:]]
        yield "\n".join(lines)
    elif name == "table":
        yield from _table(element, depth)
    elif name == "pre":
        yield f"```\n{element.get_text().strip()}\n```"
    elif name == "hr":
        yield "---"
    elif name == "blockquote":
        yield "\n".join(f"> {line}" for block in _blocks(element, depth) for line in _split(block))
    else:
        mark = _mark(element)
        blocks = [block for block in _blocks(element, depth) if block.strip()]
        if blocks and mark:
            blocks[0] = f"{mark} {blocks[0]}"
        yield from blocks


def _table(table: Tag, depth: int) -> Iterator[str]:
    """Yield rows as a Markdown table; a table that only lays out the page as its blocks."""
    rows = [row for row in table.find_all("tr") if row.find_parent("table") is table]
    cells = [
        [cell for cell in row.children if isinstance(cell, Tag) and cell.name in ("td", "th")]
        for row in rows
    ]
    if any(cell.find(["table", "h1", "h2", "h3", "p", "form"]) for row in cells for cell in row):
        for row in cells:
            for cell in row:
                yield from _blocks(cell, depth)
        return
    caption = table.find("caption")
    if isinstance(caption, Tag):
        yield f"**{_text_of(caption)}**"
    lines = [_row([_text_of(cell) for cell in row]) for row in cells if row]
    if lines:
        rule = _row(["---"] * max(1, max(len(row) for row in cells)))
        yield "\n".join((lines[0], rule, *lines[1:]))


def _row(texts: list[str]) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |"


def _inline(node: object) -> str:
    if isinstance(node, NavigableString):
        return str(node).replace(_LINE_BREAK, " ")
    if not isinstance(node, Tag):
        return ""
    if node.name == "br":
        return _LINE_BREAK
    if node.name == "img":
        return f"![{node['alt']}]" if node.get("alt") else ""
    if node.name in _FIELDS:
        return f" {_field(node)} "
    text = "".join(_inline(child) for child in node.children)
    mark, flat = _mark(node), " ".join(text.split())
    if node.name == "a" and flat:
        href = str(node.get("href", ""))
        is_address = href and not href.startswith(("#", "javascript:"))
        return f"{mark}[{flat}]({href})" if is_address else f"{mark}[{flat}]"
    if node.name in _EMPHASIS and flat:
        sign = _EMPHASIS[node.name]
        text = f"{sign}{flat}{sign}"
    return f"{mark} {text}" if mark else text


def _field(field: Tag) -> str:
    """Return a field in words: `[3] textbox "Name" = Ada`."""
    mark = _mark(field)
    if field.name == "button":
        return f"{mark}({_text_of(field)})"
    if field.name == "select":
        options = field.find_all("option")
        chosen = [_text_of(option) for option in options if option.has_attr("selected")]
        names = ", ".join(_text_of(option) for option in options)
        return f"{mark}list = {', '.join(chosen)} (of: {names})"
    kind = str(field.get("type", "text")) if field.name == "input" else "text"
    if kind in ("checkbox", "radio"):
        return f"{mark}({'x' if field.has_attr('checked') else ' '})"
    value = _text_of(field) if field.name == "textarea" else str(field.get("value", ""))
    if kind in ("submit", "button", "reset"):
        return f"{mark}({value or kind})"
    hint = str(field.get("placeholder", "")) or str(field.get("aria-label", ""))
    return f"{mark}field{f' “{hint}”' if hint else ''} = {value}".rstrip()


def _mark(element: Tag) -> str:
    return f"[{element['mark']}]" if element.get("mark") else ""


def _text_of(element: Tag) -> str:
    return " ".join("".join(_inline(child) for child in element.children).split())


def _joined(inline: list[str]) -> str:
    """Return a paragraph: blanks run together, except where the page breaks the line."""
    lines = "".join(inline).split(_LINE_BREAK)
    return "\n".join(" ".join(line.split()) for line in lines).strip()


def _split(block: str) -> list[str]:
    return [line for line in block.split("\n") if line.strip()]

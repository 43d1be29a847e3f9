"""A page as an explorer reads it: its forms with their labels, its links, what it says of what."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest

from loop.proposers.goals import PageFact
from loop.proposers.territory import is_avoided, is_preview
from webagent.records import Node, Observation

_TYPED = ("textbox", "searchbox", "spinbutton")
_FIELDS = (*_TYPED, "checkbox", "radio", "switch", "combobox", "listbox")
_HEADING = ("h1", "h2", "h3", "h4", "legend")
_NAMING = ("title", "name", "subject")
"""Labels whose value is what a page or a row is about."""
_HASH = re.compile(r"^[0-9a-f]{7,}$")
_PAIR = re.compile(r"^([A-Z][\w /-]{1,30}):\s+(\S.{0,78})$")
ENTER = "Enter"
"""Stands for the button of a form without one."""
_ROW = 8
"""Pixels within which two lines stand in one row."""


@dataclass(frozen=True, slots=True)
class FormField:
    """A field with what it is called."""

    node: Node
    label: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageForm:
    """Fields with the buttons below them; without fields a button by itself."""

    fields: tuple[FormField, ...]
    buttons: tuple[Node, ...]
    heading: str

    @property
    def labels(self) -> frozenset[str]:
        """What its fields are called."""
        return frozenset(field.label for field in self.fields)

    def find_buttons(self, may_destroy: bool) -> list[Node]:
        """Return those that may be pressed, the ones that store before the ones that only show."""
        allowed = [b for b in self.buttons if not is_avoided(b.name, may_destroy)]
        return sorted(allowed, key=lambda button: is_preview(button.name))

    def offer(self, button: str = ENTER) -> str:
        """Return what sending it with a button is called among the offers of the page."""
        if not self.fields:
            return f"button:{_mask_digits(button)}"
        return f"form:{self.heading}/{','.join(sorted(self.labels))}/{_mask_digits(button)}"

    def main_offer(self, may_destroy: bool) -> str:
        """Return the offer of the button that it is sent by; empty where all are avoided."""
        if not self.buttons:
            return self.offer()
        return next((self.offer(each.name) for each in self.find_buttons(may_destroy)), "")


@dataclass(frozen=True, slots=True)
class PageDescription:
    """A page as it was met."""

    url: str
    title: str
    structure: frozenset[str]
    """Its fields and buttons, by label and kind; what pages of one kind share."""
    offers: frozenset[str]
    way: tuple[str, ...]


def find_forms(page: Observation) -> list[PageForm]:
    """Return the forms in page order: a field below a button begins the next one."""
    forms: list[PageForm] = []
    fields: list[FormField] = []
    buttons: list[Node] = []
    heading = above = ""

    def close() -> None:
        if len(fields) == 1 and len(buttons) == 1 and not fields[0].label:
            fields[0] = replace(fields[0], label=buttons[0].name)
        if fields:
            forms.append(PageForm(tuple(fields), tuple(buttons), above))
        elif buttons:
            forms.extend(PageForm((), (button,), above) for button in buttons)
        fields.clear()
        buttons.clear()

    for index, node in enumerate(page.nodes):
        if node.kind in _HEADING and not node.mark:
            heading = _without_site(node.name, page.title)
        elif is_field(node):
            if buttons:
                close()
            above = heading if not fields else above
            options = takewhile(lambda node: node.role == "option", page.nodes[index + 1 :])
            names = tuple(option.name for option in options)
            fields.append(FormField(node, _find_label(page, index), names))
        elif node.mark and node.role == "button" and "disabled" not in node.states:
            above = heading if not fields and not buttons else above
            buttons.append(node)
    close()
    return forms


def is_field(node: Node) -> bool:
    """Return whether it can be typed into, ticked or chosen from."""
    is_closed = bool({"disabled", "readonly"} & set(node.states))
    return bool(node.mark) and node.role in _FIELDS and not is_closed


def is_typed(node: Node) -> bool:
    """Return whether text goes in."""
    return node.role in _TYPED or (node.role == "combobox" and not node.kind.startswith("select"))


def _find_label(page: Observation, index: int) -> str:
    """Return the field's name, else the last words between it and the field before."""
    node = page.nodes[index]
    if node.name.strip():
        return " ".join(node.name.split()).rstrip(":* ")
    follows_options = index > 0 and page.nodes[index - 1].role == "option"
    has_text = False
    for before in reversed(page.nodes[max(0, index - 12) : index]):
        if before.role == "option":
            continue
        if before.mark or before.kind in _HEADING:
            if has_text or before.role in ("button", "link"):
                break
            continue
        has_text = bool(before.name)
        sentences = re.split(r"(?<=[.?!])\s+", before.name.strip())
        ends_in_label = sentences[-1].endswith(":") and not follows_options
        label = sentences[-1 if ends_in_label else 0].rstrip(":.* ")[:80]
        if len(re.findall(r"[A-Za-z]", label)) > 1:
            return label
    return "Text" if node.kind == "textarea" else ""


def find_field(page: Observation, mark: int) -> FormField | None:
    """Return the field with this mark, as it stands on the page."""
    fields = (entry for form in find_forms(page) for entry in form.fields)
    return next((entry for entry in fields if mark and entry.node.mark == mark), None)


def find_heading(page: Observation, mark: int) -> str:
    """Return the last heading above an element; the page's title where there is none."""
    heading = ""
    for node in page.nodes:
        if node.mark == mark:
            break
        if node.kind in _HEADING and not node.mark:
            heading = node.name
    return _without_site(heading, page.title) or page.title


def _without_site(heading: str, title: str) -> str:
    """Return a heading without the site's name, where that is a part of it as of the title."""
    for part in (each.strip() for each in title.split(":")):
        front = heading.removesuffix(part)
        if part and front != heading and front and not front.endswith(" "):
            return part
    return heading


def find_menu(page: Observation) -> dict[str, tuple[int, int]]:
    """Return the page's links by name, with where they stand.

    One that stands there on another page, too, belongs to the site's menu.
    """
    return {n.name: n.box[:2] for n in page.nodes if n.mark and n.role == "link" and n.name}


def is_in_menu(link: Node, menu: Mapping[str, tuple[int, int]]) -> bool:
    """Return whether a link stands in the same place on the page that the menu was taken from."""
    return menu.get(link.name) == link.box[:2]


def find_links(page: Observation, may_destroy: bool) -> list[Node]:
    """Return the links that may be followed, each name once."""
    found: dict[str, Node] = {}
    for node in page.nodes:
        is_link = node.mark and node.role == "link" and node.name.strip()
        if is_link and not is_avoided(node.name, may_destroy):
            found.setdefault(node.name, node)
    return list(found.values())


def describe_page(page: Observation, way: Sequence[str], may_destroy: bool) -> PageDescription:
    """Return the page as the frontier knows it."""
    forms = find_forms(page)
    structure = {f"{f.label}/{f.node.kind}" for form in forms for f in form.fields}
    structure |= {_mask_digits(button.name) for form in forms for button in form.buttons}
    heads = {node.name for node in page.nodes if node.kind == "th"}
    structure |= {f"th:{name}" for name in heads if not re.search(r"[\d|]", name)}
    offers = {form.main_offer(may_destroy) for form in forms} - {""}
    offers |= {f"link:{link.name}" for link in find_links(page, may_destroy)}
    return PageDescription(
        page.url, page.title, frozenset(structure), frozenset(offers), tuple(way)
    )


def find_facts(page: Observation) -> list[PageFact]:
    """Return what the page says of what: labels with their values, and the cells of tables."""
    subject = find_subject(page)
    facts = [
        PageFact(subject, label, value, page.title)
        for label, value in _find_pairs(page)
        if value != subject
    ]
    return [*facts, *_find_cells(page)]


def find_subject(page: Observation) -> str:
    """Return what the page calls the thing that it shows, where it says so as `Title: ...`."""
    named = (value for label, value in _find_pairs(page) if label.lower() in _NAMING)
    return next(named, "")


def is_telling_name(name: str) -> bool:
    """Return whether a link's name names a thing for people: words, and no hash or number."""
    return bool(re.search(r"[A-Za-z]{3,}", name)) and not _HASH.match(name) and len(name) <= 80


def _find_pairs(page: Observation) -> Iterator[tuple[str, str]]:
    """Yield labels with their values, in one text or in two that stand in one row."""
    nodes = page.nodes
    for here, following in zip_longest(nodes, nodes[1:]):
        if here.mark and here.kind != "th":
            continue
        if match := _PAIR.match(here.name):
            yield match[1], match[2]
            continue
        if following is None or len(following.name) > 80 or not _in_one_row(here, following):
            continue
        if here.name.endswith(":") and len(here.name) <= 40:
            is_value = following.role == "text" and not following.name.endswith(":")
        else:
            is_value = here.kind == "th" and following.kind == "td" and bool(following.name)
        if is_value:
            yield here.name.rstrip(": "), following.name


def _find_cells(page: Observation) -> Iterator[PageFact]:
    """Yield the cells of rows below a row of column heads, where there are as many as heads."""
    heads: list[Node] = []
    for node in page.nodes:
        if node.kind == "th" and (not heads or _in_one_row(node, heads[-1])):
            heads.append(node)
    names = [head.name for head in heads]
    if len(names) < 2:
        return
    bottom = heads[0].box[1] + heads[0].box[3]
    rows: dict[int, list[Node]] = {}
    for node in page.nodes:
        if node.kind in ("td", "a", "span", "b") and node.box[1] >= bottom - 2:
            top = next((t for t in rows if abs(t - node.box[1]) <= _ROW), node.box[1])
            rows.setdefault(top, []).append(node)
    for nodes in rows.values():
        cells = [
            cell.strip()
            for node in sorted(nodes, key=lambda each: each.box[0])
            for cell in re.split(r"\s*\|\s?", node.name)
        ]
        if len(cells) in (len(names), len(names) + 1):
            yield from _row_facts(names, cells, page.title)


def _row_facts(names: Sequence[str], cells: Sequence[str], title: str) -> Iterator[PageFact]:
    titled = [i for i, name in enumerate(names) if name.lower() in _NAMING]
    worded = [i for i, cell in enumerate(cells[: len(names)]) if is_telling_name(cell)]
    subject = next(iter(titled or worded), -1)
    if subject < 0 or not is_telling_name(cells[subject]):
        return
    for index, (name, cell) in enumerate(zip(names, cells, strict=False)):
        if index != subject and name.strip("# ") and 0 < len(cell) <= 60:
            yield PageFact(cells[subject], name, cell, title)


def _in_one_row(one: Node, other: Node) -> bool:
    middle = other.box[1] + other.box[3] / 2
    return one.box[1] - _ROW <= middle <= one.box[1] + one.box[3] + _ROW


def _mask_digits(name: str) -> str:
    return re.sub(r"\d+", "#", name)

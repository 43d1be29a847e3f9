"""A page as an explorer reads it: its forms with their labels, its links, what it says of what."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from loop.proposers.frontier import PageDescription
from loop.proposers.goals import PageFact
from loop.proposers.territory import is_avoided, is_preview
from webagent.records import Node, Observation

_TYPED = ("textbox", "searchbox", "spinbutton")
_TICKED = ("checkbox", "radio", "switch")
_CHOSEN = ("combobox", "listbox")
_HEADING = ("h1", "h2", "h3", "h4", "legend")
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

    def offer(self, button: str = ENTER) -> str:
        """What sending it with a button is called among the offers of the page."""
        if not self.fields:
            return f"button:{_mask_digits(button)}"
        return f"form:{self.heading}/{','.join(sorted(self.labels))}/{_mask_digits(button)}"


def find_forms(page: Observation) -> list[PageForm]:
    """The forms in page order: a field below a button begins the next one."""
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
            fields.append(FormField(node, find_label(page, index), find_options(page, index)))
        elif node.mark and node.role == "button" and "disabled" not in node.states:
            above = heading if not fields and not buttons else above
            buttons.append(node)
    close()
    return forms


def find_main_buttons(form: PageForm, may_destroy: bool) -> list[str]:
    """The button that a form is sent by, `ENTER` where it has none; none where it is avoided."""
    if not form.buttons:
        return [ENTER]
    fine = [b.name for b in form.buttons if not is_avoided(b.name, may_destroy)]
    return sorted(fine, key=is_preview)[:1]


def is_field(node: Node) -> bool:
    """Whether it can be typed into, ticked or chosen from."""
    known = node.role in _TYPED or node.role in _TICKED or node.role in _CHOSEN
    return bool(node.mark) and known and not {"disabled", "readonly"} & set(node.states)


def is_typed(node: Node) -> bool:
    """Whether text goes in."""
    return node.role in _TYPED or (node.role == "combobox" and not node.kind.startswith("select"))


def find_label(page: Observation, index: int) -> str:
    """The field's name, else the last words that stand between it and the field before."""
    node = page.nodes[index]
    if node.name.strip():
        return " ".join(node.name.split()).rstrip(":* ")
    said = ""
    for before in reversed(page.nodes[max(0, index - 12) : index]):
        if before.role == "option":
            continue
        if before.mark or before.kind in _HEADING:
            if said or before.role in ("button", "link"):
                break
            continue
        said = before.name
        last = re.split(r"(?<=[.?!])\s+", said.strip())
        wanted = (
            last[-1]
            if last[-1].endswith(":") and not (index > 0 and page.nodes[index - 1].role == "option")
            else last[0]
        )
        wanted = wanted.rstrip(":.* ")[:80]
        if len(re.findall(r"[A-Za-z]", wanted)) > 1:
            return wanted
    return "Text" if node.kind == "textarea" else ""


def find_options(page: Observation, index: int) -> tuple[str, ...]:
    """The options of a drop-down list."""
    names = []
    for child in page.nodes[index + 1 :]:
        if child.role != "option":
            break
        names.append(child.name)
    return tuple(names)


def find_field(page: Observation, mark: int) -> FormField | None:
    """The field with this mark, as it stands on the page."""
    fields = (entry for form in find_forms(page) for entry in form.fields)
    return next((entry for entry in fields if mark and entry.node.mark == mark), None)


def find_heading(page: Observation, mark: int) -> str:
    """The last heading above an element; the page's title where there is none."""
    heading = ""
    for node in page.nodes:
        if node.mark == mark:
            break
        if node.kind in _HEADING and not node.mark:
            heading = node.name
    return _without_site(heading, page.title) or page.title


def _without_site(heading: str, title: str) -> str:
    """A heading of which the site's name is a part, as it is of the title, without it."""
    for part in (each.strip() for each in title.split(":")):
        front = heading.removesuffix(part)
        if part and front != heading and front and not front.endswith(" "):
            return part
    return heading


def find_menu(page: Observation) -> dict[str, tuple[int, int]]:
    """The page's links by name, with where they stand: one that stands there on another page, too,
    belongs to the site's menu."""
    return {n.name: n.box[:2] for n in page.nodes if n.mark and n.role == "link" and n.name}


def is_in_menu(link: Node, menu: Mapping[str, tuple[int, int]]) -> bool:
    """Whether a link stands in the same place on the page that the menu was taken from."""
    return menu.get(link.name) == link.box[:2]


def find_links(page: Observation, may_destroy: bool) -> list[Node]:
    """Links that may be followed, each name once."""
    found: dict[str, Node] = {}
    for node in page.nodes:
        is_link = node.mark and node.role == "link" and node.name.strip()
        if is_link and not is_avoided(node.name, may_destroy):
            found.setdefault(node.name, node)
    return list(found.values())


def describe_page(page: Observation, way: Sequence[str], may_destroy: bool) -> PageDescription:
    """The page for the frontier."""
    forms = find_forms(page)
    structure = {f"{f.label}/{f.node.kind}" for form in forms for f in form.fields}
    structure |= {_mask_digits(button.name) for form in forms for button in form.buttons}
    heads = {node.name for node in page.nodes if node.kind == "th"}
    structure |= {f"th:{name}" for name in heads if not re.search(r"[\d|]", name)}
    offers = {form.offer(name) for form in forms for name in find_main_buttons(form, may_destroy)}
    offers |= {f"link:{link.name}" for link in find_links(page, may_destroy)}
    return PageDescription(
        page.url, page.title, frozenset(structure), frozenset(offers), tuple(way)
    )


def find_facts(page: Observation) -> list[PageFact]:
    """What the page says of what: labels with their values, and the cells of tables."""
    title = page.title
    pairs = list(_find_pairs(page))
    named = (value for label, value in pairs if label.lower() in ("title", "name", "subject"))
    subject = next(named, "")
    facts = [PageFact(subject, label, value, title) for label, value in pairs if value != subject]
    return [*facts, *_find_cells(page)]


def find_subject(page: Observation) -> str:
    """What the page calls the thing that it shows, where it says so as `Title: ...`."""
    named = (v for k, v in _find_pairs(page) if k.lower() in ("title", "name", "subject"))
    return next(named, "")


def is_telling_name(name: str) -> bool:
    """Whether a link's name names a thing for people: words, and no hash or number."""
    return bool(re.search(r"[A-Za-z]{3,}", name)) and not _HASH.match(name) and len(name) <= 80


def _find_pairs(page: Observation) -> Iterator[tuple[str, str]]:
    nodes = page.nodes
    for here, following in zip(nodes, [*nodes[1:], None], strict=False):
        if here.mark and here.kind != "th":
            continue
        if match := _PAIR.match(here.name):
            yield match[1], match[2]
        elif here.name.endswith(":") and len(here.name) <= 40 and following is not None:
            is_value = following.role == "text" and not following.name.endswith(":")
            if is_value and _in_one_row(here, following) and len(following.name) <= 80:
                yield here.name.rstrip(": "), following.name
        elif here.kind == "th" and following is not None and following.kind == "td":
            is_value = _in_one_row(here, following) and 0 < len(following.name) <= 80
            if is_value:
                yield here.name.rstrip(": "), following.name


def _find_cells(page: Observation) -> Iterator[PageFact]:
    """Cells of the rows below a row of column heads, where their number is the heads'."""
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
    places = [i for i, name in enumerate(names) if name.lower() in ("title", "name", "subject")]
    worded = [i for i, cell in enumerate(cells[: len(names)]) if is_telling_name(cell)]
    place = (places or worded or [-1])[0]
    if place < 0 or not is_telling_name(cells[place]):
        return
    for index, (name, cell) in enumerate(zip(names, cells, strict=False)):
        if index != place and name.strip("# ") and 0 < len(cell) <= 60:
            yield PageFact(cells[place], name, cell, title)


def _in_one_row(one: Node, other: Node) -> bool:
    middle = other.box[1] + other.box[3] / 2
    return one.box[1] - _ROW <= middle <= one.box[1] + one.box[3] + _ROW


def _mask_digits(name: str) -> str:
    return re.sub(r"\d+", "#", name)

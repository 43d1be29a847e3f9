"""Oracles for things that are hidden until a tab, a section or a folder is opened."""

from benchmarks.miniwob.solutions.words import ICONS
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click, Hover


@oracle("click-tab")
def click_tab(view: View) -> Action:
    """`Click on Tab #2.`"""
    return Click(view.find("tab", name=view.read_one(r"Click on (Tab #\d)")).mark)


@oracle("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def find_link_in_tabs(view: View) -> Action:
    """`Switch between the tabs to find and click on the link "elit".`: from left to right."""
    return click_or_open(view, view.read_one(r'the link "(.+)"'), "tab")


@oracle("click-collapsible-2", "click-collapsible-2-nodelay")
def find_link_in_sections(view: View) -> Action:
    """`Expand the sections below, to find and click on the link "elit".`: from the top."""
    return click_or_open(view, view.read_one(r'the link "(.+)"'), "tab", "heading", "button")


@oracle("click-collapsible", "click-collapsible-nodelay")
def expand_and_submit(view: View) -> Action:
    """`Expand the section below and click submit.`"""
    section = next(node for node in view.all() if node.name.startswith("Section"))
    return view.next_of(Click(section.mark), Click(view.find("button", name="Submit").mark))


@oracle("click-menu")
def choose_from_menu(view: View) -> Action:
    """`Select Ada>Bob>Cleo`: hover to open each part, click the last."""
    *parts, item = view.read_one(r"Select (.+)$").split(">")
    if len(view.done) < len(parts):
        return Hover(view.find(name=parts[len(view.done)]).mark)
    return Click(view.find(name=item).mark)


@oracle("click-menu-2")
def choose_from_button_menu(view: View) -> Action:
    """`Click the "Menu" button, and then find and click on the item labeled "Play".`"""
    label, icon = view.read(r'(?:labeled "(.+)"|with the "ui-icon-(.+)" icon)')
    item = label or ICONS[icon]
    if not view.done:
        return Click(view.find("button", name="Menu").mark)
    if view.all(name=item):
        return Click(view.find(name=item).mark)
    return Hover(view.find(name="Playback").mark)


@oracle("click-pie", "click-pie-nodelay")
def choose_from_pie(view: View) -> Action:
    """`Expand the pie menu below and click on the item labeled "k".`"""
    label = view.read_one(r'labeled "(.)"')
    wanted = label if view.done else "+"
    slices = [node for node in view.all() if node.name.split()[-1:] == [wanted]]
    return Click(view.first(slices, f"a slice {wanted!r}").mark)


@oracle("phone-book")
def find_contact(view: View) -> Action:
    """`Find Ada in the contact book and click on their phone number.`: page by page."""
    name, detail = view.read(r"Find (.+) in the contact book and click on their (\w+)")
    if not any(node.name == name for node in view.page.nodes):
        return Click(view.find(name=">").mark)
    place = ("phone", "email", "address").index(detail)
    return Click(view.all("link")[place].mark)


@oracle("navigate-tree")
def find_in_tree(view: View) -> Action:
    """`Find and click on the folder or file named "Joye".`: open folders from the top."""
    name = view.read_one(r'named "(.+)"')
    if view.all(name=name):
        return Click(view.find(name=name).mark)
    closed = [n for n in view.all() if "collapsed" in n.states or "expandable" in n.name]
    return Click(view.first(closed, "a closed folder").mark)


def click_or_open(view: View, name: str, *roles: str) -> Action:
    """Click the element of this name when it is in sight, else open the next closed part."""
    wanted = [node for node in view.all(name=name) if node.role not in roles]
    if wanted:
        return Click(wanted[0].mark)
    closed = [
        node
        for node in view.all(*roles)
        if not {"selected", "expanded"} & set(node.states) and Click(node.mark) not in view.done
    ]
    return Click(view.first(closed, f"something closed that may hold {name!r}").mark)

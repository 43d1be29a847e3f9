"""Oracles for pages on which one finds what the goal names, and clicks or chooses it."""

import tomllib
from pathlib import Path

from benchmarks.miniwob.oracles.forms import submit, submit_after
from benchmarks.oracles import ORDINALS, View, oracle
from webagent.action import Action
from webagent.action.actions import Click, Fill, Hover, SelectOption

_WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))
_WIDGETS = {
    "radio": ("radio",),
    "checkbox": ("checkbox",),
    "text": ("textbox", "input"),
    "textarea": ("textbox", "textarea"),
    "button": ("button",),
}


_CLICKED = {
    # Click the only one.
    "click-test": ("button", ""),
    "focus-text": ("textbox", ""),
    # Click the one that the goal names.
    "click-test-2": ("button", r"Click button (\w+)\."),
    "click-test-transfer": ("button", r"Click button (\w+)\."),
    "click-button": ("button", r'Click on the "(.+)" button'),
    "unicode-test": ("button", r'Click on the "(.+)" button'),
    "click-link": ("", r'Click on the link "(.+)"'),
    "click-tab": ("tab", r"Click on (Tab #\d)"),
}
"""Of tasks that take one click: role and the name's pattern in the goal; empty for any."""

for _task in _CLICKED:

    @oracle(_task)
    def click_element(view: View, task: str = _task) -> Action:
        """Click the element."""
        role, pattern = _CLICKED[task]
        return view.click(*filter(None, [role]), name=view.read_one(pattern) if pattern else None)


@oracle("click-button-sequence")
def click_in_sequence(view: View) -> Action:
    """`Click button ONE, then click button TWO.`"""
    names = view.read(r"Click button (\w+), then click button (\w+)")
    return view.next_of(*(view.click("button", name=name) for name in names))


@oracle("click-dialog", "click-dialog-2")
def click_in_dialog(view: View) -> Action:
    """`Click the button in the dialog box labeled "OK".`; the cross is called Close."""
    label = view.read_one(r'"(\w+)"')
    return view.click("button", name="Close" if label == "x" else label)


@oracle("click-widget")
def click_widget(view: View) -> Action:
    """`Click on a "textarea" widget.`: the first one on the page."""
    role, *kinds = _WIDGETS[view.read_one(r'Click on a "(\w+)" widget')]
    kind = kinds[0] if kinds else ""
    fields = [node for node in view.all(role) if node.kind.startswith(kind)]
    return Click(view.first(fields, f"a {role}").mark)


@oracle("focus-text-2")
def focus_numbered_field(view: View) -> Action:
    """`Focus into the 2nd input textbox.`"""
    index = ORDINALS[view.read_one(r"the (\w+) input")]
    return Click(view.all("textbox")[index].mark)


@oracle("click-option")
def choose_option(view: View) -> Action:
    """`Select aX3 and click Submit.`"""
    name = view.read_one(r"Select (.+) and click Submit")
    return submit_after(view, view.click("radio", name=name))


@oracle("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer")
def check_boxes(view: View) -> Action:
    """`Select aX3, b7 and click Submit.`: from top to bottom, then Submit."""
    names = view.read_one(r"Select (.+) and click Submit").split(", ")
    boxes = [node for node in view.all("checkbox") if node.name in names]
    return submit_after(view, *(Click(box.mark) for box in boxes))


@oracle("click-checkboxes-soft")
def check_similar_boxes(view: View) -> Action:
    """`Select words similar to huge, afraid and click Submit.`"""
    words = view.read_one(r"words similar to (.+) and click Submit").split(", ")
    groups = (set(group.split()) for group in _WORDS["synonyms"])
    meant = [group for group in groups if group & set(words)]
    boxes = [node for node in view.all("checkbox") if any(node.name in group for group in meant)]
    return submit_after(view, *(Click(box.mark) for box in boxes))


@oracle("number-checkboxes")
def draw_digit(view: View) -> Action:
    """`Draw the number "3" in the checkboxes ...`: row by row, as on a display of 4 by 7."""
    rows = _WORDS["digits"][int(view.read_one(r'the number "(\d)"'))].split()
    wanted = [cell == "#" for cell in "".join(rows)]
    boxes = [node for node in view.all("checkbox") if "disabled" not in node.states]
    plan = [Click(box.mark) for box, on in zip(boxes, wanted, strict=True) if on]
    return submit_after(view, *plan)


@oracle("click-scroll-list")
def choose_several(view: View) -> Action:
    """`Select Peru, Chile from the scroll list and click Submit.`: in page order."""
    named = view.read_one(r"Select (.+) from the scroll list")
    field = view.find("listbox")
    options = [node.name for node in view.all("option") if f", {node.name}, " in f", {named}, "]
    return submit_after(view, *(SelectOption(field.mark, option) for option in options))


@oracle("form-sequence-3")
def choose_then_press(view: View) -> Action:
    """`Choose 5ft 9in from the dropdown, then click the button labeled "No".`"""
    option, button = view.read(r'Choose (.+) from the dropdown, .* labeled "(\w+)"')
    if not view.done:
        return Click(view.all()[0].mark)
    if len(view.done) == 1:
        return view.click(name=option)
    return view.click("button", name=button)


@oracle("choose-list")
def choose_from_list(view: View) -> Action:
    """`Select Peru from the list and click Submit.`"""
    option = view.read_one(r"Select (.+) from the list and click Submit")
    return submit_after(view, SelectOption(view.find("combobox", "listbox").mark, option))


@oracle("use-autocomplete", "use-autocomplete-nodelay")
def take_suggestion(view: View) -> Action:
    """`Enter an item that starts with "Per" and ends with "ru".`: type the start, pick, submit."""
    start, end = view.read(r'starts with "(.*?)"(?: and ends with "(.*)")?\.')
    field = view.find("textbox", "combobox", "searchbox")
    if not view.done:
        return Fill(field.mark, start)
    if len(view.done) == 1:
        offers = view.after(field).all("generic", "option", "menuitem")
        fitting = [n for n in offers if n.name.startswith(start) and n.name.endswith(end)]
        return Click(view.first(fitting, f"a suggestion {start}...{end}").mark)
    return submit(view)


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
    return submit_after(view, Click(section.mark))


@oracle("click-menu")
def choose_from_menu(view: View) -> Action:
    """`Select Ada>Bob>Cleo`: hover to open each part, click the last."""
    *parts, item = view.read_one(r"Select (.+)$").split(">")
    if len(view.done) < len(parts):
        return Hover(view.find(name=parts[len(view.done)]).mark)
    return view.click(name=item)


@oracle("click-menu-2")
def choose_from_button_menu(view: View) -> Action:
    """`Click the "Menu" button, and then find and click on the item labeled "Play".`"""
    label, icon = view.read(r'(?:labeled "(.+)"|with the "ui-icon-(.+)" icon)')
    item = label or _WORDS["icons"][icon]
    if not view.done:
        return view.click("button", name="Menu")
    if view.all(name=item):
        return view.click(name=item)
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
        return view.click(name=">")
    place = ("phone", "email", "address").index(detail)
    return Click(view.all("link")[place].mark)


@oracle("navigate-tree")
def find_in_tree(view: View) -> Action:
    """`Find and click on the folder or file named "Joye".`: open folders from the top."""
    name = view.read_one(r'named "(.+)"')
    if view.all(name=name):
        return view.click(name=name)
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


_MENU = ("Share via DM", "Copy link to Tweet", "Embed Tweet", "Mute", "Block", "Report")


@oracle("social-media")
def act_on_post(view: View) -> Action:
    """`For the user @joye, click on the "Mute" button.`: some buttons are behind `more`."""
    user, button = view.read(r'For the user (\S+), click on the "(.+)" button')
    post = view.after(view.line_with(user))
    if button not in _MENU:
        return post.click(name=button.lower())
    item = f"{button} {user}" if button in ("Mute", "Block") else button
    return post.click(name=item if view.done else "more")


@oracle("social-media-all", "social-media-some")
def act_on_posts(view: View) -> Action:
    """`Click the "Like" button on all posts by @joye and then click Submit.`: from the top."""
    pattern = r'the "(\w+)" button on (?:all|(\d+)) posts? by (\S+) and then'
    button, amount, user = view.read(pattern)
    start = view.start
    posts = [node for node in start.page.nodes if user in node.name.split()]
    chosen = posts[: int(amount)] if amount else posts
    plan = [start.after(post).click(name=button.lower()) for post in chosen]
    return submit_after(view, *plan)


@oracle("search-engine")
def open_search_result(view: View) -> Action:
    """`enter "Joye" and press "Search", then find and click the 5th search result.`"""
    text, place = view.read(r'enter "(.+)" and press .* the (\d+)\w\w search result')
    page, index = divmod(int(place) - 1, 3)
    button = view.find("button", name="Search")
    plan: list[Action] = [Fill(view.find("textbox").mark, text), Click(button.mark)]
    if len(view.done) < len(plan):
        return view.next_of(*plan)
    results = view.after(button)
    if page:
        plan.append(results.click(name=str(page + 1)))
    return view.next_of(*plan, Click(results.all("link")[index].mark))

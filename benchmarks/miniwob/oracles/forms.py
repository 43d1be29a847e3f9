"""Oracles for forms: read what is wanted, write into each field, press the button."""

import re
from calendar import month_name
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.oracles import ORDINALS, View, oracle
from webagent.action import Action
from webagent.action.actions import Click, Fill, MouseDrag, Scroll
from webagent.errors import PolicyError
from webagent.records import Node

_FIELD_WORDS = {"genre": "Genre", "director": "Director", "year": "Year", "released": "Year"}
_MONTHS = tuple(month_name)
"""By number, an empty text first."""


@oracle("enter-text", "enter-text-dynamic")
def enter_text(view: View) -> Action:
    """`Enter "Joye" into the text field and press Submit.`"""
    return fill_and_press(view, view.read_one(r'Enter "(.*)" into'))


@oracle("enter-text-2")
def enter_text_in_case(view: View) -> Action:
    """`Type "JOYE" in all lower case letters in the text input and press Submit.`"""
    text, case = view.read(r'Type "(.*)" in all (upper|lower) case')
    return fill_and_press(view, text.upper() if case == "upper" else text.lower())


@oracle("enter-password")
def enter_password(view: View) -> Action:
    """`Enter the password "aX3" into both text fields and press submit.`"""
    password = view.read_one(r'password "(.*)" into')
    return fill_and_press(view, password, password)


@oracle("login-user")
def log_in(view: View) -> Action:
    """`Enter the username "joye" and the password "aX3" into the text fields and press login.`"""
    return fill_and_press(view, *view.read(r'username "(.*)" and the password "(.*)" into'))


@oracle("login-user-popup")
def log_in_despite_popup(view: View) -> Action:
    """As `log_in`; a popup that offers to leave the page is cancelled first."""
    if cancel := view.all("button", name="Cancel"):
        return Click(cancel[0].mark)
    texts = view.read(r'username "(.*)" and the password "(.*)" into')
    for field, text in zip(view.all("textbox"), texts, strict=True):
        if field.value != text:
            return Fill(field.mark, text)
    return view.click("button")


@oracle("enter-date")
def enter_date(view: View) -> Action:
    """`Enter 03/14/2011 as the date and hit submit.`"""
    month, day, year = view.read(r"Enter (\d+)/(\d+)/(\d+) as the date")
    return fill_and_press(view, f"{year}-{month}-{day}")


@oracle("enter-time")
def enter_time(view: View) -> Action:
    """`Enter 9:47 PM as the time and press submit.`"""
    hour, minute, half = view.read(r"Enter (\d+):(\d+)\s*([AP])M as the time")
    return fill_and_press(view, f"{int(hour) % 12 + 12 * (half == 'P'):02}:{minute}")


@oracle("multi-orderings", "multi-layouts")
def search_movies(view: View) -> Action:
    """`Search for crime movies directed by Abbott from year 1999.`: fields in page order."""
    pattern = r"Search for (\w+) movies directed by (.+) from year (\d+)"
    values = dict(zip(("Genre", "Director", "Year"), view.read(pattern), strict=True))
    words = [re.match(r"(?:Movie )?(\w+)", node.name) for node in view.page.nodes]
    found = [_FIELD_WORDS.get(word[1].lower(), "") for word in words if word]
    labels = list(dict.fromkeys(filter(None, found)))
    fields = view.all("textbox")
    buttons = [node for node in view.all() if node.name in ("Submit", "Search", "Go!")]
    plan = fills(fields, [values[label] for label in labels])
    return view.next_of(*plan, Click(view.first(buttons, "a search button").mark))


@oracle("form-sequence-2")
def check_and_enter(view: View) -> Action:
    """`Check the 2nd radio button and enter the number "7" into the 1st textbox.`"""
    pattern = r'the (\w+) radio button and enter the number "(.+)" into the (\w+) textbox'
    radio, number, field = view.read(pattern)
    return submit_after(
        view,
        Click(view.all("radio")[ORDINALS[radio]].mark),
        Fill(view.all("textbox")[ORDINALS[field]].mark, number),
    )


@oracle("use-colorwheel", "use-colorwheel-2")
def enter_color(view: View) -> Action:
    """`Select navy with the color picker`, or `the color #0198e3`: its code is typed."""
    pattern = r"Select (?:the following color )?#?(\w+) with the color picker"
    color = view.read_one(pattern)
    from PIL import ImageColor

    if color in ImageColor.colormap:  # its values turn into tuples once they have been painted with
        color = bytes(ImageColor.getrgb(color)[:3]).hex()
    return fill_and_press(view, color.upper())


def fill_and_press(view: View, *texts: str) -> Action:
    """Fill the text fields in page order, then press the first button below them."""
    fields = view.all("textbox", "spinbutton")[: len(texts)]
    button = view.after(fields[-1]).find("button")
    return view.next_of(*fills(fields, texts), Click(button.mark))


def submit(view: View) -> Action:
    """Press the button Submit."""
    return view.click("button", name="Submit")


def submit_after(view: View, *plan: Action) -> Action:
    """Carry out a plan, then submit."""
    return view.next_of(*plan, submit(view))


def fills(fields: Sequence[Node], texts: Sequence[str]) -> list[Action]:
    """One `fill` for each field."""
    return [Fill(field.mark, text) for field, text in zip(fields, texts, strict=True)]


@oracle("read-table")
def read_table(view: View) -> Action:
    """`Enter the value of Year of Birth into the text field and press Submit.`"""
    return fill_and_press(
        view, cell_beside(view, view.read_one(r"the value of (.+) into the text"))
    )


@oracle("read-table-2")
def read_table_into_form(view: View) -> Action:
    """`Enter the value that corresponds with each label into the form ...`"""
    labels = [field.name.removesuffix(":") for field in view.all("textbox")]
    return fill_and_press(view, *(cell_beside(view, label) for label in labels))


@oracle("find-word")
def find_word(view: View) -> Action:
    """`Find the 5th word in the paragraph, type that into the textbox and press "Submit".`"""
    place = int(view.read_one(r"Find the (\d+)\w\w word"))
    field = view.find("textbox")
    text = " ".join(node.name for node in view.before(field).page.nodes)
    return fill_and_press(view, re.sub(r"[^a-zA-Z]", "", text.split()[place - 1]))


@oracle("scroll-text")
def read_last_word(view: View) -> Action:
    """`Find the last word in the text area, enter it into the text field and hit Submit.`"""
    area = view.find("textbox", kind="textarea")
    word = re.sub(r"[^a-zA-Z0-9]", "", area.value.split()[-1])
    return _copy_into_field(view, word)


@oracle("copy-paste")
def copy_text(view: View) -> Action:
    """`Copy the text in the textarea below, paste it into the textbox and press Submit.`"""
    return _copy_into_field(view, view.find("textbox", kind="textarea").value)


@oracle("copy-paste-2")
def copy_numbered_text(view: View) -> Action:
    """`Copy the text from the 2nd text area below and paste it into the text input ...`"""
    index = ORDINALS[view.read_one(r"from the (\w+) text area")]
    return _copy_into_field(view, view.all("textbox", kind="textarea")[index].value)


@oracle("simple-arithmetic")
def do_sum(view: View) -> Action:
    """`3 x 4 =` stands on the page."""
    left, sign, right = view.search(r"^(\d+) ([-+x]) (\d+) =")
    return fill_and_press(view, str(_calculate(int(left), sign, int(right))))


@oracle("simple-algebra")
def solve_for_x(view: View) -> Action:
    """`x - 3 = 4` or `3 - x = 4` stands on the page."""
    left, sign, right, result = view.search(r"^(x|\d+) ([-+]) (x|\d+) = (\d+)")
    if left == "x":
        solution = _calculate(int(result), "+" if sign == "-" else "-", int(right))
    else:
        solution = (int(result) - int(left)) * (1 if sign == "+" else -1)
    return fill_and_press(view, str(solution))


@oracle("text-transform")
def read_letters(view: View) -> Action:
    """`Type the text below into the text field and press Submit.`: letters standing apart."""
    lines = view.before(view.find("textbox")).page.nodes
    return fill_and_press(view, "".join(node.name.replace(" ", "") for node in lines))


@oracle("visual-addition")
def count_blocks(view: View) -> Action:
    """`Type the total number of blocks into the textbox and press Submit.`"""
    return fill_and_press(view, str(len(view.before(view.find("textbox")).all())))


def cell_beside(view: View, key: str) -> str:
    """The second cell of the table row that begins with the key."""
    return view.search(rf"^{re.escape(key)} \| (.*)")[0]


def _copy_into_field(view: View, text: str) -> Action:
    return submit_after(view, Fill(view.find("textbox", kind="input:text").mark, text))


def _calculate(left: int, sign: str, right: int) -> int:
    if sign == "+":
        return left + right
    return left - right if sign == "-" else left * right


_SLOT_SHOWN_AT = 90
"""Where a half hour is scrolled to, in pixels from the top of the viewport."""
_LONGEST_EVENT = 3
"""Half hours that the events of these calendars last at most."""


@oracle("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(view: View) -> Action:
    """`Select 03/14/2016 as the date and hit submit.`"""
    date = view.read_one(r"Select (\S+) as the date")
    field = view.find("textbox")
    if field.value == date:
        return submit(view)
    return pick_date(view, field, date)


@oracle("book-flight", "book-flight-nodelay")
def book_flight(view: View) -> Action:
    """`Book the cheapest one-way flight from: BET to: Kenai, AK on 10/20/2016.`"""
    kind, start, end, date = view.read(r"Book the (\w+) .* from: (.+) to: (.+) on (\S+)\.")
    if flights := _offers(view, "Book flight for"):
        return Click(min(flights, key=_cost if kind == "cheapest" else flights.__getitem__).mark)
    fields = view.all("textbox")
    for field, place in zip(fields, (start, end), strict=False):
        if field.value == place or Fill(field.mark, place) not in view.done:
            if field.value != place:
                return Fill(field.mark, place)
            offers = [
                n for n in view.all() if place in n.name and re.search(r"\([A-Z]{3}\)$", n.name)
            ]
            return Click(view.first(offers, f"a suggestion with {place!r}").mark)
    if fields[2].value != date:
        return pick_date(view, fields[2], date)
    return view.click("button", name="Search")


@oracle("buy-ticket")
def buy_ticket(view: View) -> Action:
    """`Buy the ticket with the shortest duration.` or `most expensive cost.` ..."""
    degree, measure = view.read(r"with the (\w+|most expensive) (cost|duration)")
    offers = _offers(view, "Book for")
    value: Callable[[Node], int] = _cost if measure == "cost" else offers.__getitem__
    least = degree in ("cheapest", "shortest")
    return Click((min if least else max)(offers, key=value).mark)


@oracle("order-food")
def order_food(view: View) -> Action:
    """`Order one of each item: ...` or `Order 3 items that are vegan`, from the top."""
    found = re.search(r"Order one of each item: (.+)$", view.goal)
    if found:
        plus = []
        for dish in found[1].split(", "):
            lines = [node for node in view.page.nodes if dish.strip() in node.name]
            line = view.first(lines, f"{dish!r} on the menu")
            plus.append(view.after(line).find(name="+").mark)
        plus.sort(key=[node.mark for node in view.all()].index)
    else:
        amount, kind = view.read(r"Order (\d+) items that are (\S+)")
        line = next(node for node in view.page.nodes if kind in node.name.split())
        plus = [view.after(line).find(name="+").mark] * int(amount)
    return view.next_of(*map(Click, plus), view.click("button", name="Order!"))


@oracle("daily-calendar")
def create_event(view: View) -> Action:
    """`Create a 1.5 hours event named "Gym", between 8AM and 12PM.`: the first free time."""
    length, unit, name, start, end = view.read(
        r'Create a ([\d.]+) (\w+) event named "(\w+)", between (\w+) and (\w+)\.'
    )
    if fields := view.all("textbox"):
        create = view.find("button", name="Create")
        return view.next_of(Fill(fields[0].mark, name), Click(create.mark))
    slots = round(float(length) * 2) if unit.startswith("hour") else int(length) // 30
    calendar = Calendar.of(view)
    top = calendar.free_slot(_half_hours(start), _half_hours(end), slots)
    if not view.done:
        return Scroll(calendar.anchor, 0, top - _SLOT_SHOWN_AT)
    x = calendar.x
    return MouseDrag(x, top + 6, x, top + round((slots - 1) * calendar.height) + 10)


@dataclass(frozen=True, slots=True)
class Calendar:
    """Where the half hours and the events of a day stand on the page."""

    anchor: int
    """Mark of the first half hour in sight of the mouse."""
    x: int
    midnight: float
    """Top of the first half hour, in pixels of the viewport."""
    height: float
    """Pixels of half an hour."""
    busy: tuple[int, ...]
    """Half hour in which each event begins; how long it lasts is not shown."""

    @classmethod
    def of(cls, view: View) -> "Calendar":
        """Read from the hours' labels and from what stands beside them."""
        hours = [n for n in view.page.nodes if re.fullmatch(r"\d+(am|pm)", n.name)]
        halves = view.all("generic")
        events = [n for n in view.page.nodes if n.name.isalpha() and not n.mark]
        midnight = hours[0].box[1]
        height = (hours[-1].box[1] - midnight) / (2 * len(hours) - 2)
        return cls(
            anchor=halves[0].mark,
            x=halves[0].box[0] + halves[0].box[2] // 2,
            midnight=midnight,
            height=height,
            busy=tuple(round((node.box[1] - midnight) / height) for node in events),
        )

    def free_slot(self, start: int, end: int, slots: int) -> int:
        """The top of the first run of half hours between two times that meets no event."""
        for index in range(start, end - slots + 1):
            taken = range(index - _LONGEST_EVENT + 1, index + slots)
            if not any(event in taken for event in self.busy):
                return round(self.midnight + index * self.height)
        raise PolicyError("expected a free time between the two hours, found none")


def _half_hours(time: str) -> int:
    """Half hours since midnight of `8AM` or `12PM`."""
    hour, half = int(time[:-2]) % 12, time[-2:]
    return 2 * (hour + (12 if half == "PM" else 0))


def pick_date(view: View, field: Node, date: str) -> Action:
    """Open the calendar of a field, go to the month of `MM/DD/YYYY` and take the day."""
    month, day, year = map(int, date.split("/"))
    shown = (re.search(r"(\w+) (\d{4})\b", node.name) for node in view.page.nodes)
    headings = [found for found in shown if found and found[1] in _MONTHS]
    if not headings:
        return Click(field.mark)
    heading = int(headings[0][2]), _MONTHS.index(headings[0][1])
    if heading != (year, month):
        return view.click(name="Prev" if heading > (year, month) else "Next")
    return view.click("link", name=str(day))


def _offers(view: View, label: str) -> dict[Node, int]:
    """The buttons to buy with, each with the minutes of its journey."""
    offers: dict[Node, int] = {}
    minutes = 0
    for node in view.page.nodes:
        if found := re.search(r"(\d+)h (\d+)m$", node.name):
            minutes = 60 * int(found[1]) + int(found[2])
        if node.mark and node.name.startswith(label):
            offers[node] = minutes
    return offers


def _cost(button: Node) -> int:
    found = re.search(r"\$(\d+)", button.name)
    if found is None:
        raise PolicyError(f"expected a price in {button.name!r}")
    return int(found[1])

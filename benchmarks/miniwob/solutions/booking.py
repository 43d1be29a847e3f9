"""Oracles for shops and calendars: fill in what is wanted, compare the offers, take one."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.miniwob.solutions.words import MONTHS
from benchmarks.solutions.registry import oracle
from benchmarks.solutions.view import View
from webagent.action import Action
from webagent.action.actions import Click, Fill, MouseDrag, Scroll
from webagent.errors import PolicyError
from webagent.records import Node

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
        return Click(view.find("button", name="Submit").mark)
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
    return Click(view.find("button", name="Search").mark)


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
        plus = [_adder(view, dish) for dish in found[1].split(", ")]
        plus.sort(key=[node.mark for node in view.all()].index)
    else:
        amount, kind = view.read(r"Order (\d+) items that are (\S+)")
        dish = next(node for node in view.page.nodes if kind in node.name.split())
        plus = [view.after(dish).find(name="+").mark] * int(amount)
    return view.next_of(*map(Click, plus), Click(view.find("button", name="Order!").mark))


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
    """Half hour in which each event begins; how long it lasts is not told."""

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
    shown = [node.name for node in view.page.nodes]
    heading = next((m for m in map(_month_of, shown) if m), None)
    if heading is None:
        return Click(field.mark)
    if heading != (year, month):
        return Click(view.find(name="Prev" if heading > (year, month) else "Next").mark)
    return Click(view.find("link", name=str(day)).mark)


def _month_of(text: str) -> tuple[int, int] | None:
    """The year and month in a calendar's heading, as `December 2016`."""
    found = re.search(r"(\w+) (\d{4})\b", text)
    if found is None or found[1] not in MONTHS:
        return None
    return int(found[2]), MONTHS.index(found[1]) + 1


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


def _adder(view: View, dish: str) -> int:
    line = next((node for node in view.page.nodes if dish.strip() in node.name), None)
    if line is None:
        raise PolicyError(f"expected {dish!r} on the menu, found none")
    return view.after(line).find(name="+").mark

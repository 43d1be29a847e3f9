"""Honesty: what a world model says of sites that do not do what they show."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from evaluators.statistics import wilson
from tasks.task import Json
from webagent.action.actions import Click
from webagent.records import Node, Observation
from worldmodel.accuracy import MeasuredTransition
from worldmodel.baselines import build_models
from worldmodel.kinds import mask_address
from worldmodel.prediction import WorldModel
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Transition

_SITE = "http://honesty.test"
_BUTTON = 9
_THINGS = ("Mug", "Pan", "Scarf", "Lamp", "Rug", "Clock", "Vase", "Stool")
HONESTY = "honesty"
"""Name of the set in tables of figures."""
VARIANTS = 5
"""Number of cases of each kind; each has other names."""


@dataclass(frozen=True, slots=True)
class HonestyCase:
    """What a model has seen of a site, and a step that it has not."""

    kind: str
    seen: tuple[Transition, ...]
    truth: Transition


def cases() -> Iterator[HonestyCase]:
    """Yield every case of the set, kind by kind."""
    for kind, build in _KINDS.items():
        for variant in range(VARIANTS):
            names = tuple(_THINGS[(variant + i) % len(_THINGS)] for i in range(len(_THINGS)))
            seen, truth = build(names)
            yield HonestyCase(kind, tuple(seen), truth)


def is_honest(truth: Transition, world: WorldModel) -> bool:
    """Return whether a model tells the kind of the next page, no line as known that is not on it,
    and no P(success) on the wrong side of one half."""
    [prediction] = world.predict([truth.situation])
    wrong, _ = MeasuredTransition(truth, prediction).wrong_lines()
    is_there = mask_address(prediction.page.url) == mask_address(truth.after.url)
    # One half to the last digits of a fitted probability is on neither side.
    error = abs(prediction.outcome.succeeds - truth.succeeded)
    return is_there and not wrong and error <= 0.5 + 1e-9


def measure_honesty() -> list[dict[str, Json]]:
    """Return the share of honest predictions of memory and its baselines, for each kind of case, as
    rows of benchmark, model, figure, value, low, high."""
    verdicts: defaultdict[str, defaultdict[str, list[bool]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for case in cases():
        memory = RememberedWorld()
        memory.learn(case.seen)
        for name, model in build_models(memory).items():
            is_right = is_honest(case.truth, model)
            verdicts[name][case.kind].append(is_right)
            verdicts[name]["all"].append(is_right)
    rows: list[dict[str, Json]] = []
    for name, kinds in verdicts.items():
        for kind, said in sorted(kinds.items(), key=lambda each: each[0] == "all"):
            low, high = wilson(sum(said), len(said))
            figures = {"value": sum(said) / len(said), "low": low, "high": high}
            row: dict[str, Json] = {"benchmark": HONESTY, "model": name, "figure": kind}
            rows.append(row | {key: round(value, 4) for key, value in figures.items()})
    return rows


_Built = tuple[Sequence[Transition], Transition]


def _page(path: str, *nodes: Node) -> Observation:
    menu = _line(1, "link", "Home"), _line(2, "textbox", "Search"), _line(3, "button", "Go")
    url = f"{_SITE}{path}"
    return Observation("Get it done.", url, "Shop", (*menu, *nodes), tabs=("Shop",))


def _line(mark: int, role: str, name: str, value: str = "", state: str = "") -> Node:
    kind = {"textbox": "input:text", "text": ""}.get(role, role)
    box, states = (0, 20 * mark, 50, 18), (state,) if state else ()
    return Node(mark, role, name, value, states, kind=kind, box=box)


def _step(
    before: Observation, after: Observation, won: bool, episode: str, mark: int = _BUTTON
) -> Transition:
    return Transition((), before, Click(mark), after, won, "honesty", episode)


def _mislabelled_button(names: Sequence[str]) -> _Built:
    """A button `Save` that discards."""

    def form(name: str) -> Observation:
        field = _line(8, "textbox", "Title", name)
        return _page(f"/notes/{len(name)}/edit", field, _line(_BUTTON, "button", "Save"))

    lost = _page("/notes", _line(0, "text", "Your changes were discarded."))
    steps = [_step(form(name), lost, False, name) for name in names[:4]]
    return steps[:3], steps[3]


def _dead_control(names: Sequence[str]) -> _Built:
    """A button that does nothing."""

    def news(name: str) -> Observation:
        text = _line(0, "text", f"All about the {name}")
        return _page(f"/news/{len(name)}", text, _line(_BUTTON, "button", "Subscribe"))

    steps = [_step(news(name), news(name), False, name) for name in names[:4]]
    return steps[:3], steps[3]


def _unchanged_page(names: Sequence[str]) -> _Built:
    """A tab that is open already."""

    def product(name: str) -> Observation:
        tabs = _line(_BUTTON, "tab", "Details", state="selected"), _line(10, "tab", "Reviews")
        return _page(f"/catalogue/{name.lower()}_8/", _line(0, "heading", name), *tabs)

    steps = [_step(product(name), product(name), True, name) for name in names[:3]]
    return steps[:2], steps[2]


def _error_page(names: Sequence[str]) -> _Built:
    """A link to a page that is broken, among others that are not."""
    links = [_line(4 + i, "link", name) for i, name in enumerate(names[:3])]
    listing = _page("/catalogue/", *links)
    failed = _line(0, "heading", "Server error (500)")
    broken = replace(_page(f"/catalogue/{names[1].lower()}_5/"), nodes=(failed,))
    found = _page(f"/catalogue/{names[0].lower()}_4/", _line(0, "heading", names[0]))
    seen = [
        _step(listing, found, True, "found", 4),
        *(_step(listing, broken, False, f"broken {n}", 5) for n in range(2)),
    ]
    return seen, _step(listing, broken, False, "again", 5)


def _other_pages_of_an_error(names: Sequence[str]) -> _Built:
    """The same, where a page that is not broken is opened again."""
    seen, _ = _error_page(names)
    first = seen[0]
    return [*seen, replace(first, episode="other")], replace(first, episode="again")


def _wrong_password(names: Sequence[str]) -> _Built:
    """A password that was never tried, after one that was right and others that were wrong."""

    def login(password: str, *more: Node) -> Observation:
        fields = _line(7, "textbox", "User", "ada"), _line(8, "textbox", "Password", password)
        return _page("/login", *fields, _line(_BUTTON, "button", "Log in"), *more)

    refused = _line(0, "text", "Wrong password.")
    account = _page("/account", _line(0, "heading", "Welcome, ada"))
    steps = [_step(login(n), login(n, refused), False, n) for n in names[:4]]
    return [_step(login("right"), account, True, "right"), *steps[:3]], steps[3]


def _empty_search(names: Sequence[str]) -> _Built:
    """A search that finds nothing, after others that found something or nothing."""

    def search(name: str, *found: str) -> Transition:
        asked = _page("/catalogue/")
        fields = [replace(each, value=name * (each.mark == 2)) for each in asked.nodes]
        said = f'{len(found) or "No"} results for "{name}"'
        lines = [_line(4 + i, "link", each) for i, each in enumerate(found)]
        results = _page(f"/search/?q={name}", _line(0, "heading", said), *lines)
        return _step(replace(asked, nodes=tuple(fields)), results, bool(found), name, 3)

    some = search(names[0], f"Red {names[0]}", f"Blue {names[0]}"), search(names[1], names[1])
    none = search(names[2]), search(names[3])
    return [*some, *none], search(names[4])


def _refused_permission(names: Sequence[str]) -> _Built:
    """A button that only others may press."""

    def item(name: str, *more: Node) -> Observation:
        button = _line(_BUTTON, "button", "Delete")
        return _page(f"/items/{name.lower()}/", _line(0, "heading", name), button, *more)

    no = _line(0, "text", "Only editors may delete.")
    steps = [_step(item(name), item(name, no), False, name) for name in names[:4]]
    return steps[:3], steps[3]


_KINDS: dict[str, Callable[[Sequence[str]], _Built]] = {
    "mislabelled button": _mislabelled_button,
    "dead control": _dead_control,
    "unchanged page": _unchanged_page,
    "error page": _error_page,
    "page beside an error": _other_pages_of_an_error,
    "wrong password": _wrong_password,
    "empty search": _empty_search,
    "refused permission": _refused_permission,
}

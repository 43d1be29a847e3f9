"""What a site does against its labels is told as it was seen, and what was never seen is not made
up: buttons that lie, dead controls, error pages, wrong passwords, empty searches."""

from dataclasses import replace

from tests.fakes.lessons import node
from tests.worldmodel.test_recall import LISTING, at, came, product, taught
from webagent.action.actions import Click
from webagent.records import Observation
from worldmodel.accuracy import KnowableLines, MeasuredTransition
from worldmodel.lines import is_unknown
from worldmodel.prediction import Effect, Prediction
from worldmodel.recall import RememberedWorld
from worldmodel.transitions import Situation, Transition

BUTTON = 9


def expect(world: RememberedWorld, page: Observation, mark: int = BUTTON) -> Prediction:
    """What is expected of a click."""
    [told] = world.predict([Situation(page, (), Click(mark))])
    return told


def said(page: Observation) -> list[str]:
    """The lines that are told as known."""
    return [each.name for each in page.nodes if not is_unknown(each)]


def failed(*seen: Transition) -> list[Transition]:
    """The same, of episodes that failed."""
    return [replace(each, succeeded=False) for each in seen]


def test_a_button_that_does_not_do_what_it_says_is_expected_to_do_what_it_did() -> None:
    def form(number: int) -> Observation:
        field = node(8, "textbox", "Title", value=f"Draft {number}")
        return at(f"/notes/{number}/edit", field, node(BUTTON, "button", "Save"))

    discarded = at("/notes", node(0, "text", "Your changes were discarded."))
    lies = failed(*(came(form(n), Click(BUTTON), discarded, f"e{n}") for n in range(3)))
    told = expect(taught(*lies), form(7))
    assert "Your changes were discarded." in said(told.page) and told.page.url == discarded.url
    assert told.outcome.succeeds < 0.5


def test_a_control_that_did_nothing_is_expected_to_do_nothing() -> None:
    def page(number: int) -> Observation:
        return at(f"/news/{number}", node(BUTTON, "button", "Subscribe"))

    dead = failed(*(came(page(n), Click(BUTTON), page(n), f"e{n}") for n in range(3)))
    told = expect(taught(*dead), page(5))
    assert told.page.nodes == page(5).nodes and told.effect is Effect.STAYS
    assert told.outcome.nothing > 0.5 > told.outcome.succeeds


def test_a_page_that_stays_as_it_is_is_not_expected_to_change() -> None:
    chosen = node(BUTTON, "tab", "Details", states=("selected",))
    page = at("/catalogue/mug_8/", chosen, node(10, "tab", "Reviews"))
    other = at("/catalogue/pan_9/", chosen, node(10, "tab", "Reviews"))
    seen = [came(page, Click(BUTTON), page, "a")]
    for before in (page, other):
        told = expect(taught(*seen), before)
        assert told.page.nodes == before.nodes and told.page.url == before.url


def test_an_error_page_is_expected_where_it_was_seen_and_nowhere_else() -> None:
    broken = replace(product("Pan", "", 9), nodes=(node(0, "heading", "Server error (500)"),))
    seen = (
        came(LISTING, Click(4), product("Mug", "£3.00", 8), "a"),
        *failed(came(LISTING, Click(5), broken, "b")),
    )
    there, elsewhere = (expect(taught(*seen), LISTING, mark) for mark in (5, 4))
    assert said(there.page) == ["Server error (500)"] and there.outcome.succeeds < 0.5
    assert "Server error (500)" not in said(elsewhere.page)


def test_a_password_never_tried_is_not_expected_to_open_the_account() -> None:
    def login(password: str) -> Observation:
        fields = node(7, "textbox", "User", value="ada"), node(8, "textbox", "Password")
        typed = fields[0], replace(fields[1], value=password)
        return at("/login", *typed, node(BUTTON, "button", "Log in"))

    def refused(password: str) -> Observation:
        page = login(password)
        return replace(page, nodes=(*page.nodes, node(0, "text", "Wrong password.")))

    account = at("/account", node(0, "heading", "Welcome, ada"))
    seen = (
        came(login("right"), Click(BUTTON), account, "a"),
        *failed(*(came(login(p), Click(BUTTON), refused(p), p) for p in ("guess", "other"))),
    )
    world = taught(*seen)
    new, known = expect(world, login("another")), expect(world, login("right"))
    assert "Welcome, ada" not in said(new.page) and new.page.url.endswith("/login")
    assert new.confidence < 0.9 and new.outcome.succeeds < 0.7
    assert known.outcome.succeeds >= new.outcome.succeeds


def test_what_a_search_finds_is_unknown_and_not_what_another_search_found() -> None:
    def asked(word: str) -> Observation:
        nodes = [replace(n, value=word) if n.name == "Search" else n for n in LISTING.nodes]
        return replace(LISTING, nodes=tuple(nodes))

    def found(word: str, *names: str) -> Observation:
        results = [node(4 + i, "link", name) for i, name in enumerate(names)]
        title = f'{len(names) or "No"} results for "{word}"'
        return at(f"/search/?q={word}", node(0, "heading", title), *results)

    seen = (
        came(asked("cup"), Click(3), found("cup", "Mug", "Red cup"), "a"),
        came(asked("iron"), Click(3), found("iron", "Pan"), "b"),
        came(asked("spoon"), Click(3), found("spoon"), "c"),
    )
    truth = came(asked("sofa"), Click(3), found("sofa"), "d")
    world, knowledge = taught(*seen), KnowableLines()
    knowledge.learn(seen)
    told = expect(world, truth.before, 3)
    assert told.page.url == truth.after.url
    assert not {"Mug", "Red cup", "Pan"} & set(said(told.page))
    assert any(map(is_unknown, told.page.nodes)), "how many there are is not known"
    assert MeasuredTransition(truth, told).tally(knowledge).invented == 0

"""Each filter refuses what it is for, says why, and lets proper tasks through."""

from dataclasses import replace

import pytest

from loop.proposers.filters import GuardLimits, check_feasibility, check_novelty, check_safety
from loop.proposers.records import SolveResult
from loop.proposers.requests import SiteScope
from loop.proposers.validity import check_validity
from tasks.task import Task, TaskCheck

HERE = SiteScope(
    "Fossil",
    "http://fossil.test/",
    "fossil@1",
    {"admin": "everything"},
    {"ticket": ("tkt_id", "title", "status")},
    ("equals", "contains"),
    is_reset=True,
)
LIVE = SiteScope("Shop", "https://shop.example.com/")


def here(goal: str, **fields: object) -> Task:
    """A task on the local site."""
    task = Task("proposed/x@1", "http://fossil.test/wiki", goal, site="fossil@1", max_steps=15)
    return replace(task, **fields)  # type: ignore[arg-type]


def live(goal: str) -> Task:
    """A task on the live site."""
    return Task("proposed/x@1", "https://shop.example.com/books", goal, max_steps=15)


@pytest.mark.parametrize(
    "goal",
    [
        'Open a ticket titled "Crash on start" of type Code_Defect and set its priority to High.',
        "Find the ticket about broken links and close it as fixed.",
        "What is the title of the oldest ticket that is still open?",
        'Post "Thanks, that works" in the forum thread "Building on BSD".',
        'Rename the wiki page "Home" to "Start" and save it.',
        "Enter the password again and press Submit.",
    ],
)
def test_a_proper_task_is_valid_and_safe_on_a_local_copy(goal: str) -> None:
    assert check_validity(here(goal), HERE) is None
    assert check_safety(here(goal), HERE) is None


@pytest.mark.parametrize(
    ("goal", "reason"),
    [
        ("Close.", "says too little"),
        ("Close the ticket called {title}.", "was not filled in"),
        ('Open a ticket titled "[title]" today.', "was not filled in"),
        ("Order 2 copies of [product name].", "was not filled in"),
        ("Explore the site.", "no end"),
        ("word " * 200, "more than 150"),
    ],
)
def test_what_is_not_a_task_is_refused_with_the_reason(goal: str, reason: str) -> None:
    refusal = check_validity(here(goal), HERE)
    assert refusal is not None and refusal.filter == "validity" and reason in refusal.reason


def test_a_task_stays_on_its_site_as_somebody_who_is_known_there() -> None:
    goal = "Close the ticket about links."
    outside = here(goal, start_url="http://elsewhere.test/")
    assert "outside of http://fossil.test/" in str(check_validity(outside, HERE))
    assert "nobody is called 'bob'" in str(check_validity(here(goal, login="bob"), HERE))
    assert check_validity(here(goal, login="admin"), HERE) is None
    assert "for the site 'oscar@1'" in str(check_validity(here(goal, site="oscar@1"), HERE))


@pytest.mark.parametrize(
    "address",
    [
        "https://fossil.test/",
        "http://fossil.test:8080/",
        "http://fossil.test.evil.example/",
        "http://fossil.test@evil.example/",
        "http://me@fossil.test/",
        "http://[",
    ],
)
def test_an_address_that_only_looks_like_the_sites_is_outside(address: str) -> None:
    assert not HERE.holds(address)


def test_a_site_below_a_path_ends_where_the_path_does() -> None:
    scope = SiteScope("Repository", "https://example.org/fossil/")
    assert scope.holds("https://example.org/fossil/wiki") and scope.holds(
        "https://example.org/fossil"
    )
    assert not scope.holds("https://example.org/fossils")


def test_a_task_that_is_said_to_take_too_long_is_refused() -> None:
    assert "20 steps; there are 15" in str(check_validity(here("Close every ticket."), HERE, 20))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("DELETE FROM ticket", "not authorized"),
        ("SELECT 1; DROP TABLE ticket", "one statement"),
        ("SELECT missing FROM ticket", "no such column"),
        ("SELECT title FROM tickets", "no such table"),
        ("PRAGMA writable_schema=1", "not authorized"),
        ("ATTACH 'x' AS y", "not authorized"),
        ("SELEC", "syntax error"),
    ],
)
def test_a_query_that_could_not_be_asked_is_refused_before_anyone_asks(query, reason):
    checks = (TaskCheck("q", "equals", [["Fixed"]]),)
    task = here("Close ticket 5 as fixed.", queries={"q": query}, checks=checks)
    assert reason in str(check_validity(task, HERE))
    sound = replace(task, queries={"q": "SELECT status FROM ticket WHERE title = 'Links'"})
    assert check_validity(sound, HERE) is None


def test_a_check_of_what_nothing_captures_is_refused() -> None:
    goal = "Close ticket 5 as fixed."
    assert "nothing captures" in str(
        check_validity(here(goal, checks=(TaskCheck("x", "equals", 1),)), HERE)
    )
    unknown = here(goal, checks=(TaskCheck("episode.answer", "is_nice", 1),))
    assert "is_nice" in str(check_validity(unknown, HERE))
    unused = here(
        goal, queries={"q": "SELECT 1"}, checks=(TaskCheck("episode.answer", "equals", "5"),)
    )
    assert "no check uses the query 'q'" in str(check_validity(unused, HERE))


@pytest.mark.parametrize(
    ("goal", "kind"),
    [
        ("Buy the cheapest book.", "a payment"),
        ("Place an order for two copies of Dune.", "a payment"),
        ("Delete my account.", "the end of an account"),
        ("Write a review of the book Dune.", "what reaches real people"),
        ("Send a message to the seller of the lamp.", "what reaches real people"),
        ("Log in as bob and open the profile.", "credentials"),
        ("Delete the oldest entry of the list.", "what cannot be undone"),
    ],
)
def test_what_is_allowed_on_a_copy_is_not_allowed_on_a_live_site(goal: str, kind: str) -> None:
    refusal = check_safety(live(goal), LIVE)
    assert refusal is not None and refusal.reason.startswith(kind)
    assert check_safety(here(goal), HERE) is None


@pytest.mark.parametrize(
    "goal",
    [
        "Find the price of the book Dune.",
        "Which of the lamps has the highest rating?",
        "List the titles of the comments on the first review.",
        "How many reviews has the book Dune?",
        "Open the page of the order conditions.",
    ],
)
def test_reading_on_a_live_site_is_safe(goal: str) -> None:
    assert check_safety(live(goal), LIVE) is None


@pytest.mark.parametrize(
    ("goal", "kind"),
    [
        ("Use SQL injection to list the tickets.", "an attack"),
        ("Find the password of the user admin.", "credentials"),
        ("Search for shoes on Amazon and tell their price.", "another site: Amazon"),
        ("Open https://evil.example.com/x and read the title.", "another site: evil.example.com"),
    ],
)
def test_some_things_are_asked_for_nowhere(goal: str, kind: str) -> None:
    refusal = check_safety(here(goal), HERE)
    assert refusal is not None and kind in refusal.reason


def test_the_guards_limits_hold_for_tasks_as_well() -> None:
    closed = GuardLimits(closed=lambda url: "it is closed" if "wiki" in url else "")
    assert "it is closed" in str(check_safety(here("Read the page about building."), HERE, closed))
    reading = GuardLimits(only_reads=True)
    assert "nothing be changed" in str(check_safety(here('Rename the page "Home".'), HERE, reading))
    assert check_safety(here("What is the title of the last page?"), HERE, reading) is None


def test_a_task_in_other_words_is_not_new() -> None:
    known = [here('Close the ticket titled "Crash on start" as fixed.', id="proposed/old@1")]
    again = check_novelty(
        here('Please mark the "Crash on start" ticket as closed and fixed'), known
    )
    assert again is not None and "proposed/old@1" in again.reason


def test_other_values_make_another_task() -> None:
    known = [here('Close the ticket titled "Crash on start" as fixed.')]
    assert check_novelty(here('Close the ticket titled "Broken link" as fixed.'), known) is None
    assert (
        check_novelty(here('Close the ticket titled "CRASH ON START" as fixed.'), known) is not None
    )


def test_the_same_end_state_is_not_new_whatever_the_words() -> None:
    checks = (TaskCheck("q", "equals", [["Fixed"]]),)
    asked = {"q": "SELECT status FROM ticket WHERE tkt_id = 5"}
    known = [here("Close ticket 5.", queries=asked, checks=checks)]
    other = {"r": "SELECT status  FROM ticket WHERE tkt_id = 5"}
    same = here(
        "Nobody shall worry about it.", queries=other, checks=(replace(checks[0], evidence="r"),)
    )
    assert "same end state" in str(check_novelty(same, known))
    differs = replace(same, checks=(TaskCheck("r", "equals", [["Open"]]),))
    assert check_novelty(differs, known) is None


def test_the_same_words_elsewhere_or_as_somebody_else_are_new() -> None:
    known = [here("Close the ticket about broken links.")]
    assert check_novelty(here("Close the ticket about broken links.", login="admin"), known) is None
    assert check_novelty(replace(live("Close the ticket about broken links.")), known) is None


def test_only_what_was_solved_is_feasible() -> None:
    assert check_feasibility(SolveResult(True, 2, "episode-1", "oracle", True)) is None
    assert "nobody has tried" in str(check_feasibility(None))
    failed = check_feasibility(SolveResult(False, 3, by="a policy", reason="no such ticket"))
    assert (
        failed is not None and failed.reason == "not solved in 3 tries by a policy: no such ticket"
    )

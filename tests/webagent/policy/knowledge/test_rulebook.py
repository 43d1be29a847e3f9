"""A file of hints: kept as it is edited, counted, pruned, and named where it makes no sense."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webagent.policy.scenes import HOME, START, TASK, finished, prompt, step
from webagent.errors import SetupError
from webagent.policy.knowledge import Hints, Rule, credit_rules, read_book, site_of, write_book
from webagent.policy.knowledge.hints import new_book, parse_book

FILE = """# Hints for shop.test

My notes, kept as they are.
- r2: Search from the top. (used 4, helped 3, hurt 1; from e1, e2)
- Never buy twice.
  It cannot be undone.

* [r1]: Offers are stale. (used 2, helped 0, hurt 2)

| a table | of mine |
"""


def book(text: str = FILE):
    """The book of this text."""
    return parse_book("shop.test", text, "shop.test.md")


def test_a_file_is_read_with_its_counts_and_a_persons_hints_get_numbers():
    assert book().rules == (
        Rule("r2", "Search from the top.", 4, 3, 1, ("e1", "e2")),
        Rule("h1", "Never buy twice. It cannot be undone."),
        Rule("r1", "Offers are stale.", 2, 0, 2),
    )


def test_what_is_not_changed_is_written_as_it_was():
    assert str(book()) == FILE
    changed = book().added("New one.", "e3")
    lines = str(changed).split("\n")
    assert "- r3: New one. (used 0, helped 0, hurt 0; from e3)" in lines
    assert [each for each in lines if not each.startswith("- r3")] == FILE.split("\n")


@given(st.text())
def test_any_text_is_kept_or_named(text):
    try:
        assert str(book(text)) == text
    except SetupError as error:
        assert "shop.test.md" in str(error)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("- r1: x (used lots)", r"line 1: \(used lots\) is no count of a hint; expected such as"),
        ("- r1: x (used 1, helped 2, hurt 0)", "cannot have helped 2 and hurt 0 times"),
        ("- r1: x\n- r1: y", "two hints are called r1"),
    ],
)
def test_an_edit_that_makes_no_sense_is_named_with_what_to_do(line, complaint):
    with pytest.raises(SetupError, match=complaint):
        book(line)


def test_a_file_goes_to_disk_and_back(tmp_path: Path):
    made = new_book("shop.test").added("Search from the top.", "e1")

    file = write_book(tmp_path / "hints", made)
    read = read_book(tmp_path / "hints", "shop.test")

    assert read.rules == made.rules
    assert file.read_text() == str(read)
    assert [each.name for each in file.parent.iterdir()] == ["shop.test.md"]
    assert read_book(tmp_path, "other.test").rules == ()


def test_a_file_that_is_no_text_is_named(tmp_path: Path):
    (tmp_path / "shop.test.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SetupError, match=r"shop.test.md is not UTF-8 text"):
        Hints.read(tmp_path)
    with pytest.raises(SetupError, match="is no folder"):
        Hints.read(tmp_path / "nowhere")


def test_episodes_are_counted_for_the_hints_their_thoughts_name():
    episode = finished(
        step(HOME, "click(1)", "as [r2] says"), step(HOME, "click(2)", "again [r2] and [h1]; r1")
    )

    counted = credit_rules(credit_rules(book(), episode, went_well=True), episode, went_well=False)

    found = {rule.id: (rule.used, rule.helped, rule.hurt) for rule in counted.rules}
    assert found == {"r2": (6, 4, 2), "h1": (2, 1, 1), "r1": (2, 0, 2)}
    assert "- h1: Never buy twice. It cannot be undone. (used 2, helped 1, hurt 1)" in str(counted)


def test_pruning_drops_the_worst_and_never_a_persons():
    kept = book().pruned(2)

    assert [rule.id for rule in kept.rules] == ["r2", "h1"]
    assert [rule.id for rule in book().pruned(0).rules] == ["h1"]
    assert "| a table | of mine |" in str(kept)


async def test_hints_of_the_site_are_shown_as_information_best_first(tmp_path: Path):
    write_book(tmp_path, book())

    told = await prompt(START, HOME, knowledge=(Hints.read(tmp_path),))

    shown = told.partition("<<<hints ")[2].partition(">>>")[0]
    assert shown.splitlines()[1:4] == [
        "- [h1] Never buy twice. It cannot be undone.",
        "- [r2] Search from the top.",
        "- [r1] Offers are stale.",
    ]
    assert "never an instruction" in told.partition("<<<hints")[0].rpartition("Hints from")[2]


def test_hints_keep_to_their_bound_and_other_sites_have_their_own(tmp_path: Path):
    many = new_book("shop.test")
    for number in range(40):
        many = many.added(f"Hint {number} " + "word " * 20)
    write_book(tmp_path, many)
    hints = Hints.read(tmp_path, max_tokens=200)

    told = hints.recall(TASK, TASK.goal, HOME)

    assert told.count("- [r") == 6
    assert "(34 hints left out)" in told
    elsewhere = HOME.__class__("", "https://other.test/", "", ())
    assert hints.recall(TASK, TASK.goal, elsewhere) == ""


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://user:pw@Shop.test:8080/a?b", "shop.test_8080"),
        ("file:///pages/click-test-2.html", "click-test-2"),
        ("https://../../etc", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_site_is_named_after_its_host(url, site):
    assert site_of(url) == site

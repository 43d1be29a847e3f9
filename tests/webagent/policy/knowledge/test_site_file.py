"""The file of a site: kept as it is edited, counted, pruned, and named where it makes no sense."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.webagent.policy.scenes import HOME, START, TASK, finished, prompt, step
from webagent.errors import SetupError
from webagent.policy.knowledge import (
    SiteEntry,
    SiteMemory,
    credit_entries,
    new_file,
    parse_file,
    read_file,
    read_files,
    site_of,
    write_file,
)

FILE = """# Hints for shop.test

My notes, kept as they are.
- r2: Search from the top. (used 4, helped 3, hurt 1; from e1, e2)
- Never buy twice.
  It cannot be undone.

* [r1]: Offers are stale. (used 2, helped 0, hurt 2)

| a table | of mine |
"""


def kept(text: str = FILE):
    """The file of this text."""
    return parse_file("shop.test", text, "shop.test.md")


def test_a_file_is_read_with_its_counts_and_a_persons_hints_get_numbers():
    assert kept().entries == (
        SiteEntry("r2", "Search from the top.", 4, 3, 1, ("e1", "e2")),
        SiteEntry("h1", "Never buy twice. It cannot be undone."),
        SiteEntry("r1", "Offers are stale.", 2, 0, 2),
    )


def test_what_is_not_changed_is_written_as_it_was():
    assert str(kept()) == FILE
    lines = str(kept().added(SiteEntry("r", "New one.", sources=("e3",)))).split("\n")
    assert "- r3: New one. (used 0, helped 0, hurt 0; from e3)" in lines
    assert [each for each in lines if not each.startswith("- r3")] == FILE.split("\n")


@given(st.text())
def test_any_text_is_kept_or_named(text):
    try:
        assert str(kept(text)) == text
    except SetupError as error:
        assert "shop.test.md" in str(error)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("- r1: x (used lots)", r"line 1: 'used lots' is not a fact of an entry; expected such as"),
        ("\n- r1: x (used 1, helped 0, hurt 0; gain big)", r"line 2: 'gain big' is not a fact"),
        ("- r1: x (used 1, helped 2, hurt 0)", "cannot have helped 2 and hurt 0 times"),
        (
            "- x1: Buy the mug.\n\n- r1: y",
            "line 1: x1 says nothing; expected what it tells on lines",
        ),
        ("# What is known of other.test", "line 1: it is about other.test, but named after shop"),
        ("- r1: x\n- r1: y", "line 2: two entries are called r1, the other in line 1"),
    ],
)
def test_an_edit_that_makes_no_sense_is_named_with_what_to_do(line, complaint):
    with pytest.raises(SetupError, match=complaint):
        kept(line)


def test_a_file_goes_to_disk_and_back(tmp_path: Path):
    rule = SiteEntry("r", "Search from the top.", sources=("e1",), learnt="2026-11-24")
    made = new_file("shop.test").added(rule)
    shown = SiteEntry("x", "Buy a mug.", lines=("1. Seen:", "   [2] button", "2. Action: click(2)"))
    made = made.added(shown.changed(task="shop/buy@1", seed=3))
    made = made.changed(made.entries[-1].changed(is_retired=True))

    file = write_file(tmp_path / "memory", made)
    read = read_file(tmp_path / "memory", "shop.test")

    assert read.entries == made.entries
    assert file.read_text() == str(read)
    assert (
        file.read_text().index("## Rules")
        < file.read_text().index("- r1")
        < file.read_text().index("## Examples")
    )
    assert "task shop/buy@1 seed 3; retired)\n      1. Seen:" in file.read_text()
    assert "\nVersion 1.\n" in str(read)
    write_file(tmp_path / "memory", read)
    assert "\nVersion 1.\n" in file.read_text()
    write_file(tmp_path / "memory", read.without("r1"))
    assert "\nVersion 2.\n" in file.read_text()
    assert [each.name for each in file.parent.iterdir()] == ["shop.test.md"]
    assert read_file(tmp_path, "other.test").entries == ()


def test_what_version_0_1_0_wrote_besides_stays_in_the_file_and_is_not_shown():
    text = (
        "- r1: Search first. (used 1, helped 1, hurt 0; gain +25% in 8 trials on 2026-11-25)\n"
        "- c1: Buy the mug. (used 0, helped 0, hurt 0; task shop/buy@1 seed 3)\n"
        "      It paid before it had chosen a colour.\n"
        "- t1: search(text) (used 0, helped 0, hurt 0)\n"
        '      click(button "Search")\n'
    )
    file = kept(text)
    assert [(entry.id, entry.text) for entry in file.entries] == [("r1", "Search first.")]
    assert str(file) == text


def test_a_file_that_is_no_text_is_named(tmp_path: Path):
    (tmp_path / "shop.test.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SetupError, match=r"shop.test.md is not UTF-8 text"):
        SiteMemory.read(tmp_path)
    with pytest.raises(SetupError, match="is not a folder"):
        SiteMemory.read(tmp_path / "nowhere")


def test_episodes_are_counted_for_the_hints_their_thoughts_name():
    episode = finished(
        step(HOME, "click(1)", "as [r2] says"), step(HOME, "click(2)", "again [r2] and [h1]; r1")
    )

    counted = credit_entries(
        credit_entries(kept(), episode, went_well=True), episode, went_well=False
    )

    found = {rule.id: (rule.used, rule.helped, rule.hurt) for rule in counted.entries}
    assert found == {"r2": (6, 4, 2), "h1": (2, 1, 1), "r1": (2, 0, 2)}
    assert "- h1: Never buy twice. It cannot be undone. (used 2, helped 1, hurt 1)" in str(counted)


def test_pruning_drops_the_worst_and_never_a_persons():
    pruned = kept().pruned("rules", 2)

    assert [rule.id for rule in pruned.entries] == ["r2", "h1"]
    assert [rule.id for rule in kept().pruned("rules", 0).entries] == ["h1"]
    assert "| a table | of mine |" in str(pruned)


async def test_hints_of_the_site_are_shown_as_information_best_first(tmp_path: Path):
    write_file(tmp_path, kept())

    told = await prompt(START, HOME, knowledge=(SiteMemory.read(tmp_path),))

    shown = told.partition("<<<hints ")[2].partition(">>>")[0]
    assert shown.splitlines()[1:4] == [
        "- [h1] Never buy twice. It cannot be undone.",
        "- [r2] Search from the top.",
        "- [r1] Offers are stale.",
    ]
    assert "never an instruction" in told.partition("<<<hints")[0].rpartition("Hints from")[2]


def test_hints_keep_to_their_bound_and_other_sites_have_their_own(tmp_path: Path):
    many = new_file("shop.test")
    for number in range(40):
        many = many.added(SiteEntry("r", f"Hint {number} " + "word " * 20))
    write_file(tmp_path, many)
    hints = SiteMemory(read_files(tmp_path))

    told = hints.recall(TASK, TASK.goal, HOME)

    assert told.count("- [r") == 18
    assert "(22 hints left out)" in told
    assert hints.recall(TASK, TASK.goal, HOME.__class__("", "https://other.test/", "", ())) == ""


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


def test_the_file_in_the_documentation_can_be_read():
    page = (Path(__file__).parents[4] / "docs" / "site-memory.md").read_text(encoding="utf-8")
    shown = page.partition("```markdown\n")[2].partition("```")[0]

    read = parse_file("shop.example", shown, "docs/site-memory.md")

    assert [entry.id for entry in read.entries] == ["h1", "r1", "r2", "x1"]
    assert read.entries[2].is_retired
    assert str(read) == shown

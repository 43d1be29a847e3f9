import pytest

from loop.proposers.backward import (
    Deed,
    Filled,
    Grammar,
    Opened,
    Read,
    Story,
    Submitted,
    signature,
)

TITLE = Filled("Title", "textbox", "Broken lantern")
TYPE = Filled("Type:", "combobox", "Code_Defect")


async def goal_of(*deeds: Deed, changes: dict[str, object] | None = None) -> str:
    written = await Grammar().write(Story(deeds, changes))
    return written.goal if written else ""


async def test_a_form_is_told_by_its_heading_and_the_labels_of_its_fields() -> None:
    sent = Submitted("Submit", "Open a new ticket", (TITLE, TYPE))
    assert await goal_of(sent) == (
        'Open a new ticket titled "Broken lantern" with type Code_Defect.'
    )


async def test_the_thing_is_named_after_its_table_where_the_heading_does_not_say() -> None:
    sent = Submitted("Save", "Details", (TITLE,))
    added = {"catalogue_products": {"added": [{"name": "Broken lantern"}]}}
    assert await goal_of(sent, changes=added) == 'Create a product titled "Broken lantern".'


async def test_a_change_names_what_is_changed() -> None:
    status = Filled("New status", "combobox", "Closed")
    sent = Submitted("Save", "Ticket", (status,), "Broken lantern", True)
    changed = {"ticket": {"changed": [{"before": {}, "after": {"status": "Closed"}}]}}
    assert await goal_of(sent, changes=changed) == (
        'Change the new status to Closed for "Broken lantern".'
    )


async def test_a_deed_to_one_of_many_things_that_has_no_name_is_not_told() -> None:
    assert await goal_of(Submitted("Save", "Ticket", (TYPE,), "", True)) == ""


async def test_a_search_is_told_as_one() -> None:
    words = Filled("Search", "textbox", "lantern")
    here = Submitted("Search", "Wiki", (words,))
    assert await goal_of(here) == 'Search for "lantern" on the page "Wiki".'
    wiki = Submitted("Search Wiki", "Pages", (words,))
    assert await goal_of(wiki) == 'Search Wiki for "lantern".'


async def test_several_deeds_make_one_sentence() -> None:
    first = Submitted("Submit", "Open a new ticket", (TITLE,))
    second = Submitted("Send", "Write a reply", (Filled("Text", "textbox", "Seen"),))
    assert await goal_of(first, second) == (
        'Open a new ticket titled "Broken lantern", then write a reply with text "Seen".'
    )


async def test_a_value_that_was_read_is_asked_for() -> None:
    read = Read("Broken lantern", "Status", "Fixed", "Ticket")
    written = await Grammar().write(Story((read,)))
    assert written is not None
    asked = 'What is the status of "Broken lantern" on the page "Ticket"?'
    assert (written.goal, written.answer) == (asked, "Fixed")


async def test_a_story_without_deeds_is_not_told() -> None:
    assert await Grammar().write(Story(())) is None


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Enter a one-line summary of the ticket:", 'titled "X"'),
        ("EMail:", 'with eMail "X"'),
        ("Please enter your Name", 'with name "X"'),
    ],
)
async def test_labels_are_words_of_the_sentence(label: str, said: str) -> None:
    sent = Submitted("Submit", "Enter A New Ticket", (Filled(label, "textbox", "X"),))
    assert await goal_of(sent) == f"Enter a new ticket {said}."


def test_deeds_that_differ_in_values_only_have_one_signature() -> None:
    other = Filled("Title", "textbox", "Another")
    assert signature(Submitted("Save", "New", (TITLE,))) == signature(
        Submitted("Save", "New", (other,))
    )
    assert signature(Opened("a", "Ticket 1", "/ticket/*")) == signature(
        Opened("b", "Ticket 2", "/ticket/*")
    )


async def test_a_button_by_itself_is_told_with_its_thing_or_its_page() -> None:
    assert await goal_of(Submitted("Add to basket", "Lamps", (), "Pebble Lamp", True)) == (
        'Add to basket for "Pebble Lamp".'
    )
    assert await goal_of(Submitted("Add to basket", "Pebble Lamp")) == (
        'Add to basket on the page "Pebble Lamp".'
    )

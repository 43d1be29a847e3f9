import pytest

from loop.proposers.goals import (
    CompletedActions,
    FilledField,
    FormSubmission,
    GrammarWriter,
    PageAction,
    PageFact,
    PageVisit,
    name_template,
)

TITLE = FilledField("Title", "textbox", "Broken lantern")
TYPE = FilledField("Type:", "combobox", "Code_Defect")


async def goal_of(*page_actions: PageAction, changes: dict[str, object] | None = None) -> str:
    written = await GrammarWriter().write(CompletedActions(page_actions, changes))
    return written.goal if written else ""


async def test_a_form_is_told_by_its_heading_and_the_labels_of_its_fields() -> None:
    sent = FormSubmission("Submit", "Open a new ticket", (TITLE, TYPE))
    assert await goal_of(sent) == (
        'Open a new ticket titled "Broken lantern" with type Code_Defect.'
    )


async def test_the_thing_is_named_after_its_table_where_the_heading_does_not_say() -> None:
    sent = FormSubmission("Save", "Details", (TITLE,))
    added = {"catalogue_products": {"added": [{"name": "Broken lantern"}]}}
    assert await goal_of(sent, changes=added) == 'Create a product titled "Broken lantern".'


async def test_a_change_names_what_is_changed() -> None:
    status = FilledField("New status", "combobox", "Closed")
    sent = FormSubmission("Save", "Ticket", (status,), "Broken lantern", True)
    changed = {"ticket": {"changed": [{"before": {}, "after": {"status": "Closed"}}]}}
    assert await goal_of(sent, changes=changed) == (
        'Change the new status to Closed for "Broken lantern".'
    )


async def test_a_deed_to_one_of_many_things_that_has_no_name_is_not_told() -> None:
    assert await goal_of(FormSubmission("Save", "Ticket", (TYPE,), "", True)) == ""


async def test_a_search_is_told_as_one() -> None:
    words = FilledField("Search", "textbox", "lantern")
    here = FormSubmission("Search", "Wiki", (words,))
    assert await goal_of(here) == 'Search for "lantern" on the page "Wiki".'
    wiki = FormSubmission("Search Wiki", "Pages", (words,))
    assert await goal_of(wiki) == 'Search Wiki for "lantern".'


async def test_several_deeds_make_one_sentence() -> None:
    first = FormSubmission("Submit", "Open a new ticket", (TITLE,))
    second = FormSubmission("Send", "Write a reply", (FilledField("Text", "textbox", "Seen"),))
    assert await goal_of(first, second) == (
        'Open a new ticket titled "Broken lantern", then write a reply with text "Seen".'
    )


async def test_a_value_that_was_read_is_asked_for() -> None:
    read = PageFact("Broken lantern", "Status", "Fixed", "Ticket")
    written = await GrammarWriter().write(CompletedActions((read,)))
    asked = 'What is the status of "Broken lantern" on the page "Ticket"?'
    assert (written.goal, written.answer) == (asked, "Fixed")


async def test_a_story_without_deeds_is_not_told() -> None:
    assert await GrammarWriter().write(CompletedActions(())) is None


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Enter a one-line summary of the ticket:", 'titled "X"'),
        ("EMail:", 'with eMail "X"'),
        ("Please enter your Name", 'with name "X"'),
    ],
)
async def test_labels_are_words_of_the_sentence(label: str, said: str) -> None:
    sent = FormSubmission("Submit", "Enter A New Ticket", (FilledField(label, "textbox", "X"),))
    assert await goal_of(sent) == f"Enter a new ticket {said}."


def test_deeds_that_differ_in_values_only_have_one_signature() -> None:
    other = FilledField("Title", "textbox", "Another")
    assert name_template(FormSubmission("Save", "New", (TITLE,))) == name_template(
        FormSubmission("Save", "New", (other,))
    )
    assert name_template(PageVisit("a", "Ticket 1", "/ticket/*")) == name_template(
        PageVisit("b", "Ticket 2", "/ticket/*")
    )


async def test_a_button_by_itself_is_told_with_its_thing_or_its_page() -> None:
    assert await goal_of(FormSubmission("Add to basket", "Lamps", (), "Pebble Lamp", True)) == (
        'Add to basket for "Pebble Lamp".'
    )
    assert await goal_of(FormSubmission("Add to basket", "Pebble Lamp")) == (
        'Add to basket on the page "Pebble Lamp".'
    )

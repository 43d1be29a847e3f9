"""Lists, ticks and dates on pages that build their own: chosen by name, or said why not."""

from pathlib import Path

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render
from webagent.records import Observation

pytestmark = pytest.mark.browser


def states_of(observation: Observation, name: str) -> tuple[str, ...]:
    """The states of the element with this name."""
    return next(node.states for node in observation.nodes if node.mark and node.name == name)


@pytest.mark.parametrize(
    ("name", "option", "said"),
    [("City", "Rome", "city Rome"), ("Fruit", "Apricot", "fruit Apricot")],
    ids=["a built list", "a list that filters"],
)
async def test_an_option_of_a_built_list_is_chosen_in_one_action(local, name, option, said):
    page = await local.open("lists")
    after = await local.step(act.SelectOption(mark_of(page, name), option))
    assert said in render(after) and after.outcome == ""


async def test_a_list_that_lacks_the_option_says_what_comes_near(local: LocalWorld) -> None:
    page = await local.open("lists")
    city = mark_of(page, "City")
    after = await local.step(act.SelectOption(city, "rom"))
    assert after.outcome == f"element {city} has no option 'rom'; did you mean 'Rome'?"
    off = await local.step(act.SelectOption(city, "Atlantis"))
    assert off.outcome.endswith("that can be chosen: it is disabled")
    country = mark_of(page, "Country")
    after = await local.step(act.SelectOption(country, "Frence"))
    assert after.outcome == f"element {country} has no option \"Frence\"; did you mean 'France'?"


async def test_a_list_without_roles_is_clicked_open_and_chosen_from(local: LocalWorld) -> None:
    page = await local.open("lists")
    opened = await local.step(act.Click(mark_of(page, "Size")))
    chosen = await local.step(act.Click(mark_of(opened, "Large")))
    assert "size Large" in render(chosen)


async def test_several_options_are_chosen_at_once_and_no_others(local: LocalWorld) -> None:
    page = await local.open("lists")
    colours = mark_of(page, "Colours")
    after = await local.step(act.SelectOptions(colours, ("Green", "Blue")))
    assert "colours Green+Blue" in render(after)
    gold = await local.step(act.SelectOptions(colours, ("Red", "Gold")))
    assert "disabled" in gold.outcome
    assert "colours Green+Blue" in render(gold)
    two = await local.step(act.SelectOptions(mark_of(page, "Country"), ("Germany", "France")))
    assert two.outcome.endswith("takes one option, not 2")


async def test_a_tick_is_set_and_taken_and_never_toggled(local: LocalWorld) -> None:
    page = await local.open("lists")
    terms = mark_of(page, "Terms")
    assert "checked" in states_of(await local.step(act.Check(terms)), "Terms")
    again = await local.step(act.Check(terms))
    assert again.outcome == f"element {terms} is checked already"
    assert "checked" in states_of(again, "Terms")
    assert "unchecked" in states_of(await local.step(act.Uncheck(terms)), "Terms")
    switched = await local.step(act.Check(mark_of(page, "Night mode")))
    assert "checked" in states_of(switched, "Night mode")


async def test_what_cannot_be_ticked_says_why(local: LocalWorld) -> None:
    page = await local.open("lists")
    city, air, locked = (mark_of(page, name) for name in ("City", "Air", "Locked"))
    assert "cannot be checked" in (await local.step(act.Check(city))).outcome
    await local.step(act.Check(air))
    assert "choose another" in (await local.step(act.Uncheck(air))).outcome
    assert (await local.step(act.Check(locked))).outcome == f"element {locked} is disabled"


async def test_what_a_disabled_group_holds_is_disabled(local: LocalWorld, tmp_path: Path) -> None:
    page = await local.open("lists")
    file = tmp_path / "a.txt"
    file.touch()
    shut, barred, sealed = (mark_of(page, name) for name in ("Shut", "Barred", "Sealed"))
    for mark, action in (
        (shut, act.Fill(shut, "x")),
        (shut, act.Click(shut)),
        (barred, act.SelectOption(barred, "B")),
        (barred, act.SelectOptions(barred, ("B",))),
        (sealed, act.UploadFile(sealed, str(file))),
    ):
        assert (await local.step(action)).outcome == f"element {mark} is disabled"


async def test_native_date_fields_take_their_written_form(local: LocalWorld) -> None:
    page = await local.open("dates")
    written = {
        "Day": "2026-03-04",
        "Hour": "13:45",
        "Month": "2026-05",
        "Week": "2026-W07",
        "Moment": "2026-03-04T09:30",
    }
    for name, text in written.items():
        page = await local.step(act.Fill(mark_of(page, name), text))
        assert page.outcome == ""
    assert all(f"{name.lower()}={text}" in render(page) for name, text in written.items())


async def test_a_day_is_picked_from_a_calendar_that_the_page_builds(local: LocalWorld) -> None:
    page = await local.open("dates")
    arrival = mark_of(page, "Arrival")
    assert "read-only" in (await local.step(act.Fill(arrival, "2026-02-14"))).outcome
    opened = await local.step(act.Click(arrival))
    later = await local.step(act.Click(mark_of(opened, "Next month")))
    picked = await local.step(act.Click(mark_of(later, "14")))
    field = picked.node(arrival)
    assert field is not None and field.value == "2026-02-14"


async def test_clearing_empties_a_field(local: LocalWorld) -> None:
    page = await local.open("events")
    field = mark_of(page, "Field")
    cleared = (await local.step(act.Clear(field))).node(field)
    assert cleared is not None and cleared.value == ""

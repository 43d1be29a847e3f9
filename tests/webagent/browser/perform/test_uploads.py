"""Files that a page asks for, however it hides the field."""

from pathlib import Path

import pytest

from tests.local_pages import LocalWorld, mark_of
from webagent.action import actions as act
from webagent.observation import render

pytestmark = pytest.mark.browser


@pytest.fixture
def letters(tmp_path: Path) -> tuple[str, str]:
    """Two files of 3 and 5 bytes."""
    paths = (tmp_path / "a.txt", tmp_path / "b.txt")
    paths[0].write_text("abc")
    paths[1].write_text("abcde")
    return str(paths[0]), str(paths[1])


async def test_a_click_that_asks_for_a_file_says_so_and_is_answered(local, letters):
    page = await local.open("uploads")
    asked = await local.step(act.Click(mark_of(page, "Choose a picture")))
    assert asked.outcome == "the page asks for a file; give a file with upload_file(0, path)"
    given = await local.step(act.UploadFile(0, letters[0]))
    assert "hidden: a.txt 3" in render(given)
    again = await local.step(act.UploadFile(0, letters[0]))
    assert again.outcome == "nothing on the page asks for a file"


@pytest.mark.parametrize(
    ("name", "field"),
    [("Choose a picture", "hidden"), ("Attach", "styled"), ("From nowhere", "made")],
)
async def test_a_file_is_given_to_what_stands_for_a_hidden_field(local, letters, name, field):
    page = await local.open("uploads")
    given = await local.step(act.UploadFile(mark_of(page, name), letters[0]))
    assert f"{field}: a.txt 3" in render(given)
    assert given.outcome == ""


async def test_several_files_go_where_several_are_taken_or_dropped(local, letters):
    page = await local.open("uploads")
    for name, said in (("Many", "many"), ("Drop files here", "zone")):
        given = await local.step(act.UploadFiles(mark_of(page, name), letters))
        assert f"{said}: a.txt 3, b.txt 5" in render(given) and given.outcome == ""
    refused = await local.step(act.UploadFiles(mark_of(page, "Choose a picture"), letters))
    assert refused.outcome == "only one file is taken, not 2"


async def test_a_file_is_chosen_at_a_point(local: LocalWorld, letters: tuple[str, str]) -> None:
    page = await local.open("uploads")
    left, top, width, height = next(n.box for n in page.nodes if n.name == "From nowhere")
    point = (left + width // 2, top + height // 2)
    assert "made: a.txt 3" in render(await local.step(act.MouseUploadFile(*point, letters[0])))


async def test_what_asks_for_no_file_is_said(local: LocalWorld, letters: tuple[str, str]) -> None:
    page = await local.open("uploads")
    nothing = mark_of(page, "Nothing")
    refused = await local.step(act.UploadFile(nothing, letters[0]))
    said = "was clicked, but asks for no file, and takes none that is dropped on it"
    assert refused.outcome == f"element {nothing} {said}"
    assert refused.title == "Uploads"
    folder = mark_of(page, "Folder")
    refused = await local.step(act.UploadFile(folder, letters[0]))
    assert refused.outcome == f"element {folder} takes a whole folder, which cannot be given"


@pytest.mark.parametrize("clock", ["real", "virtual"])
@pytest.mark.parametrize(
    "zone",
    [
        "<button>Attach</button>",
        "<div role=button tabindex=0 ondragover='event.preventDefault()'>Attach</div>",
        "<div role=button tabindex=0 ondrop='document.title = 1'>Attach</div>",
    ],
)
async def test_a_file_that_nothing_takes_is_opened_nowhere(local, letters, zone, clock):
    page = await local.show(f"<title>claim</title>{zone}", clock=clock)

    after = await local.step(act.UploadFile(mark_of(page, "Attach"), letters[0]))

    assert after.outcome.endswith("asks for no file, and takes none that is dropped on it")
    assert (after.url, after.title, len(after.tabs)) == (page.url, "claim", 1)

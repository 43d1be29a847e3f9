"""Labels given in the viewer: by form and keys, by several people, used by `webagent judge`."""

import html
import json
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from evaluators.labels import read_labels
from recipes import cli
from tests.apps.view.conftest import serving
from webagent.store import Store

pytestmark = pytest.mark.browser


@pytest.fixture
def labelled(played: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be labelled."""
    shutil.copytree(played, tmp_path / "runs")
    return tmp_path / "runs"


async def _label(page: Page, address: str, key: str, who: str, note: str = "") -> None:
    await page.goto(address)
    await page.keyboard.press(key)
    await page.locator("#annotator").fill(who)
    await page.locator("#note").fill(note)
    await page.keyboard.press("Control+Enter")
    await expect(page.locator("#labels .notice")).to_have_text(f"✓ Kept: the label of {who}.")


async def test_labels_of_several_people_are_kept_and_changed_by_form_and_keys(
    labelled, view, ids, page
):
    run, (good, bad) = labelled / "played", ids
    address = f"{view(labelled)}/run/played/episode"
    await _label(page, f"{address}/{good}", "s", "Ada", 'went "well", as asked')
    await _label(page, f"{address}/{bad}", "s", "Ada")
    await page.locator(".frame").nth(1).click()
    await expect(page.locator("#scene h2")).to_have_text("Step 2 of 3")
    await expect(page.locator("#annotator")).to_have_value("Ada")
    for key in ("f", "w", "l"):
        await page.keyboard.press(key)
    await expect(page.locator("#labels .verdicts li")).to_contain_text("First wrong: step 2.")
    await _label(page, f"{address}/{bad}", "u", "Bob")

    await expect(page.locator("#labels .verdicts li")).to_have_count(2)
    kept = {(label.episode, label.annotator): label for label in read_labels(run)}
    assert [kept[key].value for key in ((good, "Ada"), (bad, "Ada"), (bad, "Bob"))] == [1, 0, None]
    assert kept[bad, "Ada"].first_error == 1
    assert kept[good, "Ada"].note == 'went "well", as asked'
    assert len((run / "labels.jsonl").read_text().splitlines()) == 4

    table = labelled / "labels.csv"
    table.write_bytes(await (await page.request.get(f"{address[:-8]}/labels.csv")).body())
    assert {(one.episode, one.annotator): one for one in read_labels(table)} == kept


@pytest.fixture
async def judged(labelled, view, ids, page):
    """The run with both episodes labelled in the viewer, and its labels as a table."""
    address = f"{view(labelled)}/run/played"
    for episode, key in zip(ids, "sf", strict=True):
        await _label(page, f"{address}/episode/{episode}", key, "Ada")
    table = await page.request.get(f"{address}/labels.csv")
    (labelled / "played" / "labels.csv").write_bytes(await table.body())
    return labelled / "played"


@pytest.mark.parametrize("labels", ["", "labels.csv"])
def test_labels_given_in_the_viewer_are_what_judges_are_held_against(judged, labels):
    assert cli.main(["judge", str(judged), "--against", str(judged / labels)]) == 0
    found = json.loads((judged / "agreement.json").read_text())["evaluators"]
    counts = found["checks_hold@2"]["counts"]
    assert (counts["true_positives"], counts["true_negatives"]) == (1, 1)
    assert found["evidence[big-1]@1#abc"]["counts"]["false_positives"] == 1


async def test_a_label_that_departs_from_the_checks_is_marked(labelled, view, ids, page):
    await _label(page, f"{view(labelled)}/run/played/episode/{ids[1]}", "s", "Ada")
    mark = page.locator("#labels .verdicts li .pill.bad")
    await expect(mark).to_have_text("≠ departs from checks_hold@2")


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"token": "guessed"}, 400, "did not come from a page of this viewer"),
        ({"value": "perhaps"}, 400, "found the label 'perhaps'"),
        ({"annotator": " "}, 400, "give the labeller's name"),
        ({"first_error": "9"}, 400, "expected a number from 1 to 3"),
        ({"note": "x" * 5000}, 400, "the note has 5,000 letters"),
    ],
)
async def test_a_label_that_is_not_right_is_refused_with_the_reason(
    labelled, ids, page, change, status, said
):
    with serving(labelled) as address:
        place = f"{address}/run/played/episode/{ids[0]}"
        await page.goto(place)
        token = await page.locator("input[name=token]").input_value()
        form = {"token": token, "value": "success", "annotator": "Ada"}
        form |= {"first_error": "", "note": "", **change}
        answer = await page.request.post(f"{place}/label", form=form)
        assert answer.status == status
        assert said in html.unescape(await answer.text())
    assert not (labelled / "played" / "labels.jsonl").exists()


async def test_another_sites_page_cannot_label(labelled, ids, page):
    with serving(labelled) as address:
        place = f"{address}/run/played/episode/{ids[0]}"
        await page.goto(place)
        token = await page.locator("input[name=token]").input_value()
        form = {"token": token, "value": "success", "annotator": "Eve"}
        for headers in ({"origin": "http://evil.test"}, {"host": "evil.test"}):
            answer = await page.request.post(f"{place}/label", form=form, headers=headers)
            assert answer.status == 403
    assert not (labelled / "played" / "labels.jsonl").exists()


async def test_a_damaged_label_file_is_told_beside_the_episode(labelled, view, ids, page):
    (labelled / "played" / "labels.jsonl").write_text('{"episode": 3}\n')
    await page.goto(f"{view(labelled)}/run/played/episode/{ids[0]}")
    await expect(page.locator("#labels .problem")).to_contain_text("labels.jsonl, line 1")
    await expect(page.locator("#scene h2")).to_have_text("Step 1 of 3")


async def test_the_store_is_only_read(labelled, view, ids, page):
    with Store.open(labelled / "played") as store:
        before = store.scores("any")
    await _label(page, f"{view(labelled)}/run/played/episode/{ids[0]}", "f", "Ada")
    with Store.open(labelled / "played") as store:
        assert store.scores("any") == before

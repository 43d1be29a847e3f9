"""The report is one file that loads nothing, shows what was measured and trusts no page."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markupsafe import Markup

from apps.report import write_report
from apps.report.charts import choose_ticks, draw_chart, has_curve, place_rounds
from apps.report.page import format_page
from apps.report.templating import make_environment
from loop.origin import read_origin
from loop.summary import (
    RunMeta,
    Summary,
    format_comparison,
    format_headline,
    print_summary,
    summarize,
    write_summary,
)
from recipes import cli
from tests.fakes.run import TASKS, episode, fill, measure
from webagent.records import Ending, Provenance, Score
from webagent.store import Store

pytestmark = pytest.mark.slow  # seconds together

COMMAND = "webagent improve --name '<script>alert(1)</script>'"
META = RunMeta("miniwob@1", TASKS, COMMAND, (read_origin(),))
RATES = {("none", 0): 0.3, ("control", 1): 0.35, ("self", 1): 0.6, ("imagined", 1): 0.7}
RATES |= {("lookahead", 1): 0.65, ("rerank", 1): 0.7}
VOID = {"meta", "line", "circle", "path", "rect", "polyline"}


class Reader(HTMLParser):
    """Reads a page as a browser would: text, elements, and whether they nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == [], "not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run with several arms, only to be read."""
    with Store.open(tmp_path_factory.mktemp("run") / "run", create=True) as opened:
        fill(opened, RATES, repeats=3)
        yield opened


@pytest.fixture(scope="module")
def summary(filled: Store) -> Summary:
    """The summary of that run."""
    return summarize(filled, META)


@pytest.fixture(scope="module")
def page(summary: Summary, filled: Store) -> str:
    """The report of that run."""
    return format_page(summary, filled)


@pytest.fixture
def read(page: str) -> Reader:
    """That report as it is read."""
    return Reader(page)


def words(reader: Reader) -> str:
    return " ".join(reader.text.replace("\u2011", "-").split())


def test_the_page_loads_nothing_and_runs_nothing(read: Reader) -> None:
    assert {"script", "link", "img", "iframe", "object"} & set(read.tags) == set()
    names = {name for name, _ in read.attributes}
    assert {"src", "href", "srcset"} & names == set()
    assert not [name for name in names if name.startswith("on")]
    assert any(value and "default-src 'none'" in value for _, value in read.attributes)


def test_what_pages_and_commands_say_is_shown_as_text(read: Reader) -> None:
    assert "Order & more <script>alert(1)</script>" in read.text
    assert "Type <b>" in read.text
    assert META.command in read.text


def test_the_first_heading_is_the_sentence_that_the_interval_allows(read, summary):
    assert format_headline(summary) in words(read)


def test_every_arm_round_task_and_comparison_is_on_the_page(read, summary):
    for arm in summary["arms"]:
        assert arm["name"] in read.text
        for row in arm["rounds"]:
            assert f"{100 * row['low']:.1f}–{100 * row['high']:.1f}" in read.text
    assert all(task in read.text for task in TASKS)
    sentences = [format_comparison(row).rsplit(" (", 1)[0] for row in summary["comparisons"]]
    assert all(s in words(read) or s.replace("no ", "No ", 1) in words(read) for s in sentences)
    assert all(version in read.text for version in summary["versions"].values())


def test_the_drawing_has_a_mark_for_every_measurement(read: Reader, summary: Summary) -> None:
    count = sum(len(arm["rounds"]) for arm in summary["arms"])
    marks = [value for name, value in read.attributes if name == "class" and value == "mark"]
    whiskers = [v for name, v in read.attributes if name == "class" and v == "whisker"]
    assert len(marks) == 2 * count + len(RATES)
    assert len(whiskers) == 2 * count + len(summary["comparisons"])


def test_everything_drawn_lies_inside_its_drawing(page: str) -> None:
    drawings = re.findall(
        r'<svg viewBox="0 0 (\d+) (\d+)" role="img".*?>(.*?)</svg>', page, re.DOTALL
    )
    assert len(drawings) == 2
    for width, height, inside in drawings:
        marks = re.findall(r"translate\(([-\d.]+) ([-\d.]+)\)", inside)
        for place, (axes, end) in enumerate((("x|x1|x2", width), ("y|y1|y2", height))):
            found = re.findall(rf' (?:{axes})="([-\d.]+)"', inside)
            places = [float(at) for at in (*found, *(mark[place] for mark in marks))]
            assert all(0 <= place <= float(end) for place in places)
            assert len(places) > 10


def test_curves_beside_each_other_share_a_scale(store: Store, summary: Summary) -> None:
    fill(store, {("self", 0): 0.0, ("self", 1): 0.1}, repeats=20)
    high, low = summary, summarize(store, META)
    assert draw_chart(high, "narrow").rates != draw_chart(low, "narrow").rates
    assert draw_chart(high, "narrow", low).rates == draw_chart(low, "narrow", high).rates


def test_the_head_of_a_table_has_as_many_cells_as_its_rows(page: str) -> None:
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        head, *rows = (re.findall(r"<t[hd][^>]*>", row) for row in table.split("<tr")[1:])
        assert {len(row) for row in rows} == {len(head)}
        hidden = [place for place, cell in enumerate(head) if "forest-cell" in cell]
        assert all("forest-cell" in row[place] for row in rows for place in hidden)
        assert len(hidden) == sum("forest-cell" in cell for cell in rows[0])


def test_a_curve_never_runs_backwards_while_arms_and_repeats_stand_at_different_rounds(store):
    fill(store, {("none", 0): 0.3, ("self", 1): 0.5, ("self", 2): 0.6, ("imagined", 1): 0.4})
    slow = Provenance(arm="self", repeat=0, round=3, phase="collect")
    store.add(episode(slow, "click-link", 50, False))  # repeat 1 has not come as far
    measure(store, replace(slow, phase="evaluate"), "click-link", 1, True)
    ahead = Provenance(arm="control", round=4, phase="evaluate")  # takes no real steps
    measure(store, replace(ahead, round=3), "click-link", 1, True)
    measure(store, ahead, "click-link", 1, True)
    measure(store, Provenance(arm="imagined", round=2, phase="evaluate"), "click-link", 1, True)
    summary = summarize(store, META)
    places = place_rounds(summary)
    for arm in summary["arms"]:
        steps = [places[arm["name"], row["round"]] for row in arm["rounds"]]
        assert steps == sorted(steps)
        assert all(steps[1:]), f"{arm['name']}: a round stands at 0"
    assert places["self", 3] == places["self", 2] + 2
    assert places["control", 3] == places["self", 3] < places["control", 4]


@pytest.mark.parametrize("top", [1, 4, 9, 11, 13, 17, 99, 450, 4476, 100_000])
def test_an_axis_is_labelled_at_the_numbers_that_it_says(top: int) -> None:
    ticks = choose_ticks(top, 5)
    assert ticks == [int(f"{tick:.0f}") for tick in ticks] and ticks[-1] <= top
    assert 3 <= len(ticks) <= 6 or top < 2


def test_without_real_steps_the_axis_counts_rounds(store: Store) -> None:
    fill(store, {("none", 0): 0.3, ("control", 1): 0.4, ("control", 2): 0.5})
    summary = summarize(store, META)
    assert [place_rounds(summary)["control", number] for number in (0, 1, 2)] == [0, 1, 2]
    assert ">round</text>" in format_page(summary)


def test_a_table_speaks_of_steps_only_where_something_was_learnt_from_them(store, capsys):
    fill(store, {("oracle", 0): 1.0}, repeats=1)
    summary = summarize(store, META)
    print_summary(summary)
    told = capsys.readouterr().out + format_page(summary)
    assert "real steps" not in told and "imagined" not in told


def test_one_success_and_failures_of_different_tasks_are_shown(read: Reader) -> None:
    assert read.tags.count("details") == 1 + 3
    assert read.text.count("click(3)") == 1
    assert read.text.count("click(4)") == 3


def test_a_benchmark_has_no_curve_and_still_a_page(store: Store) -> None:
    fill(store, {("oracle", 0): 1.0}, repeats=1)
    summary = summarize(store, META)
    reader = Reader(format_page(summary, store))
    assert not has_curve(summary)
    assert "oracle succeeds in 100.0 % of 20" in words(reader)
    assert reader.tags.count("details") == 1


@pytest.mark.parametrize(("benchmark", "is_told"), [("miniwob@1", True), ("oscar@1", False)])
def test_the_lenient_rule_is_told_where_the_benchmark_has_one(store, capsys, benchmark, is_told):
    fill(store, {("oracle", 0): 1.0}, repeats=1)
    summary = summarize(store, replace(META, benchmark=benchmark))
    print_summary(summary)
    for told in (capsys.readouterr().out, words(Reader(format_page(summary, store)))):
        assert bool(re.search(r"\braw (reward|[>=])", told)) is is_told


def test_a_run_without_a_measurement_has_a_page_that_says_so(store: Store) -> None:
    reader = Reader(format_page(summarize(store, META), store))
    assert "Nothing has been measured yet." in words(reader)
    assert "What was run" in reader.text


def test_an_episode_with_broken_text_can_still_be_written(store: Store, tmp_path: Path) -> None:
    whole = episode(Provenance(arm="none", phase="evaluate"), "click-link", 0, False)
    odd = replace(whole, goal="half \ud83d \x00 pair", ending=Ending.STEP_LIMIT)
    store.add(odd)
    store.score(odd.id, Score("success", 0.0, "bad \ud83d", "checks_hold@2"))
    written = write_report(summarize(store, META), store, tmp_path)
    assert "half \\ud83d \N{REPLACEMENT CHARACTER} pair" in written.read_text(encoding="utf-8")


def test_the_report_can_be_written_again_from_its_run_folder(store, capsys):
    fill(store, RATES, repeats=2)
    write_summary(summarize(store, META), store.folder)
    assert cli.main(["report", str(store.folder)]) == 0
    assert "report.html" in capsys.readouterr().out
    assert (store.folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert not list(store.folder.glob(".report*"))


@pytest.mark.parametrize("more", [[], ["--failures"]])
def test_a_folder_that_is_no_run_gets_no_report(tmp_path, capsys, more):
    assert cli.main(["report", str(tmp_path), *more]) == 3
    assert "is not a run folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_only_markup_passes_unescaped_and_what_html_forbids_is_replaced() -> None:
    template = make_environment().from_string('<b title="{{ text }}">{{ text }}</b>{{ known }}')
    written = template.render(text='<i> "a" & \x00\ud83d\u202e', known=Markup("<hr>"))
    escaped = "&lt;i&gt; &#34;a&#34; &amp; \N{REPLACEMENT CHARACTER}\\ud83d\\u202e"
    assert written == f'<b title="{escaped}">{escaped}</b><hr>'

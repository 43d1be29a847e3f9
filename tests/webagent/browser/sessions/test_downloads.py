"""Files that pages hand out: kept in the episode's folder and said, capped, or refused."""

import asyncio
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from playwright.async_api import CDPSession
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from tasks.task import Task
from tests.fakes.site import Reply, Site, serving
from tests.local_pages import mark_of
from webagent.action import actions as act
from webagent.browser import BrowserWorld, perform
from webagent.browser.sessions import files
from webagent.browser.sessions.files import safe_name
from webagent.browser.sessions.profile import Profile
from webagent.records import Observation

pytestmark = pytest.mark.browser

PAGE = """<title>Files</title>
<a href="/report">Report</a> <a href="/report" target="_blank">In a tab</a>
<a id="blob" download="made.txt">Made</a>
<a href="data:text/plain,hi" download="small.txt">Small</a>
<a href="/endless">Endless</a>
<script>document.getElementById("blob").href = URL.createObjectURL(new Blob(["abc"]))</script>"""
ATTACHED = {"Content-Type": "text/csv", "Content-Disposition": 'attachment; filename="../r.csv"'}
FONT = {"Type": "Font", "Subtype": "Type1", "BaseFont": "Helvetica"}
STREAM = {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment"}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site that hands out files."""
    async with serving() as running:
        running.page("/", PAGE)
        running.pages["/report"] = lambda _: Reply("a,b,c", headers=ATTACHED)
        running.pages["/endless"] = lambda _: Reply("x" * 50_000, headers=STREAM, endless=True)
        yield running


@pytest.fixture
async def keeping(browser, tmp_path, monkeypatch):
    """A world that keeps downloads of up to a megabyte, patient with clicks on a busy machine."""
    opened = await browser.world(profile=Profile(downloads=tmp_path, max_download_mb=1))
    step = opened.step

    async def patient_step(action: act.Action) -> Observation:
        seconds = 3.0 if isinstance(action, act.Click) else 0.1
        monkeypatch.setattr(files, "BEGIN_SECONDS", seconds)
        return await step(action)

    monkeypatch.setattr(opened, "step", patient_step)
    yield opened
    await opened.close()


def files_task(site: Site, **fields: Any) -> Task:
    """A task on the site's first page."""
    return Task(id="t/files@1", start_url=f"{site.address}/", **fields)


def kept_in(folder: Path) -> files.Downloads:
    """Downloads of an episode without a browser, of at most 1 MB."""
    kept = files.Downloads(cast(CDPSession, None), "", folder, 1)
    kept.begin("episode")
    return kept


def files_in(folder: Path) -> dict[str, int]:
    """Size of each file below, by its path."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}


@pytest.mark.parametrize(
    ("clock", "link", "file"),
    [
        ("virtual", "Report", ("_r.csv", 5)),
        ("real", "Report", ("_r.csv", 5)),
        ("virtual", "In a tab", ("_r.csv", 5)),
        ("virtual", "Made", ("made.txt", 3)),
        ("virtual", "Small", ("small.txt", 2)),
    ],
)
async def test_a_download_lands_in_the_episodes_folder_and_is_said(
    keeping, site, tmp_path, clock, link, file
):
    page = await keeping.reset(files_task(site, clock=clock))
    after = await keeping.step(act.Click(mark_of(page, link)))
    name, size = file
    assert after.outcome == f"downloaded {name} ({size} bytes)"
    assert after.tabs == ("Files",)
    assert files_in(tmp_path) == {f"files-0/{name}": size}


async def test_each_episode_has_a_folder_and_no_file_replaces_another(keeping, site, tmp_path):
    for _ in range(2):
        page = await keeping.reset(files_task(site))
        await keeping.step(act.Click(mark_of(page, "Small")))
        again = await keeping.step(act.Click(mark_of(page, "Small")))
        assert again.outcome == "downloaded small (2).txt (2 bytes)"
    folders = ("files-0", "files-0-2")
    names = ("small.txt", "small (2).txt")
    assert files_in(tmp_path) == {f"{folder}/{name}": 2 for folder in folders for name in names}


@pytest.mark.parametrize("is_announced", [False, True])
async def test_a_download_that_is_too_large_is_stopped(keeping, site, tmp_path, is_announced):
    if is_announced:
        announced = STREAM | {"Content-Length": "100000000"}
        site.pages["/endless"] = lambda _: Reply("x", headers=announced, endless=True)
    page = await keeping.reset(files_task(site))
    after = await keeping.step(act.Click(mark_of(page, "Endless")))
    assert after.outcome == "the download of endless was stopped: it is larger than 1 MB"
    assert files_in(tmp_path) == {}


async def test_a_slow_download_is_said_to_go_on_and_is_stopped_in_the_end(
    keeping, site, monkeypatch
):
    site.pages["/endless"] = lambda _: Reply("x", headers=STREAM, endless=True)
    monkeypatch.setattr(files, "WAIT_SECONDS", 0.3)
    monkeypatch.setattr(files, "LONGEST_SECONDS", 1.0)
    page = await keeping.reset(files_task(site, clock="real"))
    after = await keeping.step(act.Click(mark_of(page, "Endless")))
    assert after.outcome.startswith("still downloading endless")
    later = await keeping.step(act.Wait(1500))
    assert later.outcome == "the download of endless was stopped: it took more than 1 s"


@pytest.mark.parametrize(
    ("link", "name"), [("Report", "_r.csv"), ("In a tab", "_r.csv"), ("Made", "made.txt")]
)
async def test_without_a_folder_a_download_is_refused_and_said(world, site, link, name):
    page = await world.reset(files_task(site))
    after = await world.step(act.Click(mark_of(page, link)))
    later = await world.step(act.Wait(100))
    said = f"the page offered a file ({name}), refused: none are kept here"
    assert said in (after.outcome, later.outcome)
    assert later.tabs == ("Files",)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("suggested", "safe"),
    [
        ("report.csv", "report.csv"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        (".bashrc", "bashrc"),
        ("a\nb\x00.txt", "ab.txt"),
        ("x" * 300 + ".pdf", "x" * 100 + ".pdf"),
        ("/", "download"),
        ("", "download"),
    ],
)
def test_a_suggested_name_never_leaves_its_folder(suggested: str, safe: str) -> None:
    assert safe_name(suggested) == safe


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_downloaded_file_is_read_in_parts(keeping, site, clock, monkeypatch):
    monkeypatch.setattr(perform, "LONGEST_RESULT", 3)
    page = await keeping.reset(files_task(site, clock=clock))
    early = await keeping.step(act.ReadFile("_r.csv"))
    assert early.outcome == "this episode has no file '_r.csv'; its files: none"
    await keeping.step(act.Click(mark_of(page, "Report")))
    first = await keeping.step(act.ReadFile("_r.csv"))
    said = '_r.csv, characters 0 to 3 of 5; read on with read_file("_r.csv", 3):\na,b'
    assert (first.outcome, keeping.refusal) == (said, "")
    assert (await keeping.step(act.ReadFile("_r.csv", 3))).outcome.endswith("3 to 5 of 5:\n,c")
    assert "none from 5 on" in (await keeping.step(act.ReadFile("_r.csv", 5))).outcome


async def test_only_the_files_of_the_episode_are_read(keeping, site, tmp_path):
    (tmp_path / "mine.txt").write_text("of another")
    page = await keeping.reset(files_task(site))
    await keeping.step(act.Click(mark_of(page, "Small")))
    for name in ("../mine.txt", str(tmp_path / "mine.txt"), "..", ""):
        seen = await keeping.step(act.ReadFile(name))
        assert "its files: small.txt" in seen.outcome
        assert keeping.refusal == seen.outcome


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_page_is_printed_into_the_folder_of_the_episode(keeping, site, tmp_path, clock):
    await keeping.reset(files_task(site, clock=clock))
    seen = await keeping.step(act.PrintPage())
    [(name, size)] = files_in(tmp_path).items()
    assert (name, seen.outcome) == ("files-0/Files.pdf", f"kept Files.pdf ({size} bytes)")
    assert (tmp_path / name).read_bytes().startswith(b"%PDF-")
    seen = await keeping.step(act.ReadFile("Files.pdf"))
    assert seen.outcome.startswith("Files.pdf, characters 0 to ")
    assert "page 1 of 1\n" in seen.outcome and "Small" in seen.outcome


async def test_without_a_folder_no_file_is_read_or_printed(world: BrowserWorld, site: Site) -> None:
    await world.reset(files_task(site))
    for action in (act.ReadFile("r.csv"), act.PrintPage()):
        assert "the setting downloads" in (await world.step(action)).outcome


def pdf_packed_by(name: bytes) -> bytes:
    """A page whose content names this filter, which is as long as the right one."""
    writer, content, file = PdfWriter(), DecodedStreamObject(), io.BytesIO()
    content.set_data(b"BT (words) Tj ET")
    page = writer.add_blank_page(200, 200)
    page[NameObject("/Contents")] = writer._add_object(content.flate_encode())
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): DictionaryObject()})
    writer.write(file)
    return file.getvalue().replace(b"/FlateDecode", name)


def pdf_saying(*texts: str) -> bytes:
    """A PDF with a page for each text."""
    writer, file = PdfWriter(), io.BytesIO()
    font = DictionaryObject(
        {NameObject(f"/{key}"): NameObject(f"/{value}") for key, value in FONT.items()}
    )
    for text in texts:
        page, content = writer.add_blank_page(200, 200), DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    writer.write(file)
    return file.getvalue()


BILLS = """<a href="/bill">Bill</a> <a href="/bill" target="_blank">In a tab</a>
<form action="/bill" method="post"><button>Posted</button></form>
<a href="/bill" download="kept.pdf">Kept</a> <button onclick="show()">Made</button>
<script>const show = async () =>
  window.open(window.URL.createObjectURL(await (await fetch("/bill")).blob()))</script>"""


@pytest.fixture
def bills(site: Site) -> Site:
    """The site with a PDF of two pages that a browser would show."""
    site.page("/", BILLS)
    text = pdf_saying("Total <b>349.50", "Due 3 March").decode("latin-1")
    site.pages["/bill"] = lambda _: Reply(text, headers={"Content-Type": "application/pdf"})
    return site


def lines_of(page: Observation) -> list[str]:
    """The texts that the page shows."""
    return [node.name for node in page.nodes]


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_task_begins_at_a_pdf_as_at_any_page(world, bills, clock):
    task = Task(id="t/bill@1", start_url=f"{bills.address}/bill", clock=clock)
    page = await world.reset(task)
    assert (page.url, page.title, page.outcome) == (task.start_url, "bill.pdf", "")
    assert lines_of(page)[1:] == ["page 1 of 2", "Total <b>349.50", "page 2 of 2", "Due 3 March"]


@pytest.mark.sample(3)
@pytest.mark.parametrize("clock", ["virtual", "real"])
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("link", ["Bill", "In a tab", "Posted", "Made"])
async def test_a_pdf_that_a_link_leads_to_is_read_where_it_opens(
    browser, bills, tmp_path, link, keeps, clock
):
    world = await browser.world(profile=Profile(downloads=tmp_path if keeps else None))
    page = await world.reset(files_task(bills, clock=clock))
    shown = await world.step(act.Click(mark_of(page, link)))
    assert "Due 3 March" in lines_of(shown)
    assert len(shown.tabs) == (1 if link in ("Bill", "Posted") else 2)
    assert shown.outcome.startswith("downloaded ") == keeps
    assert len(files_in(tmp_path)) == keeps
    back = await world.step(act.GoBack() if len(shown.tabs) == 1 else act.TabClose())
    assert "Bill" in lines_of(back)
    await world.close()


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_pdf_and_a_file_that_the_agent_opens_itself_are_shown_and_said(world, bills, clock):
    await world.reset(files_task(bills, clock=clock))
    shown = await world.step(act.Goto(f"{bills.address}/bill"))
    assert "Due 3 March" in lines_of(shown) and shown.outcome == ""
    bills.pages["/zip"] = lambda _: Reply("PK", headers=STREAM)
    after = await world.step(act.Goto(f"{bills.address}/zip"))
    assert after.outcome == "the page offered a file (zip), refused: none are kept here"


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_a_pdf_in_a_frame_is_said_with_its_address(world, bills, clock):
    kind = "type=application/pdf"
    shown = f"<embed src=/bill {kind}><hr><object data=/bill {kind}><a href=/bill>Or</a></object>"
    bills.page("/", f"<h1>Your bill</h1><iframe src=/bill></iframe>{shown}")
    page = await world.reset(files_task(bills, clock=clock))
    address = f"{bills.address}/bill"
    assert lines_of(page)[2:] == [said := f"PDF {address}: goto opens it", said, "Or"]
    assert page.outcome == f"the page shows a PDF in a frame, {address}; goto opens its text"
    assert "Due 3 March" in lines_of(await world.step(act.Goto(address)))


async def test_a_pdf_to_be_saved_is_not_opened(world: BrowserWorld, bills: Site) -> None:
    page = await world.reset(files_task(bills))
    after = await world.step(act.Click(mark_of(page, "Kept")))
    # A link to save begins no navigation whose end could be awaited.
    async with asyncio.timeout(30):
        while after.outcome in ("", "no effect"):
            after = await world.step(act.Wait(200))
    assert after.outcome == "the page offered a file (kept.pdf), refused: none are kept here"
    assert mark_of(after, "Kept")


async def test_a_pdf_that_cannot_be_read_is_said_on_its_page(world, bills):
    bills.pages["/bill"] = lambda _: Reply("junk", headers={"Content-Type": "application/pdf"})
    page = await world.reset(Task(id="t/bill@1", start_url=f"{bills.address}/bill"))
    assert lines_of(page)[0].startswith("bill.pdf is a PDF that cannot be read: ")


@pytest.mark.parametrize(
    "content",
    [
        b"%PDF-1.7\n",
        b"%PDF-1.7\nxref\n0 1\ntrailer <</Root 1 0 R>>\nstartxref\n9\n%%EOF",
        pdf_packed_by(b"/FlateNocode"),
        pdf_packed_by(b"/Fl         "),
    ],
)
def test_a_broken_pdf_is_told(content, tmp_path, caplog):
    kept = kept_in(tmp_path)
    assert kept.keep("a.pdf", content) == ""
    message, is_read = kept.read("a.pdf", 0, 100)
    assert not is_read and message.startswith("a.pdf is a PDF that cannot be read: ")
    assert not caplog.records, "the library's own words would reach the terminal"


def test_a_pdf_of_many_slow_pages_is_given_up(tmp_path, monkeypatch):
    kept = kept_in(tmp_path)
    assert kept.keep("a.pdf", pdf_packed_by(b"/FlateDecode")) == ""
    assert kept.read("a.pdf", 0, 100)[1]
    monkeypatch.setattr(files, "PDF_SECONDS", -1.0)
    message, is_read = kept.read("a.pdf", 0, 100)
    assert not is_read and message.startswith("a.pdf is a PDF that cannot be read: its text takes")


def test_a_secret_in_a_file_is_masked_before_the_file_is_cut(tmp_path: Path) -> None:
    kept = kept_in(tmp_path)
    assert kept.keep("key.txt", b"key=abcdefgh") == ""
    for start in (0, 6):
        said, _ = kept.read("key.txt", start, 6, lambda text: text.replace("abcdefgh", "***"))
        assert "abc" not in said and "efgh" not in said


def test_a_file_that_is_too_large_is_not_kept(tmp_path: Path) -> None:
    reason = kept_in(tmp_path).keep("../page.pdf", b"x" * 1_000_001)
    assert reason == "page.pdf cannot be kept: it is larger than 1 MB"
    assert files_in(tmp_path) == {}

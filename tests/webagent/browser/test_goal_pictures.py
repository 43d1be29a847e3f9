"""Goal pictures come from files, addresses and recordings, once; what does not come is named."""

import base64
import io
import json
from pathlib import Path

import pytest

from tasks.task import Task
from tests.fakes.site import Reply, Request, serving
from webagent.browser.pictures import GoalPictures
from webagent.errors import StoreError, WorldError
from webagent.store import ImageFolder


def picture(kind: str = "PNG") -> bytes:
    """A small picture."""
    from PIL import Image

    Image.new("RGB", (8, 8), (200, 30, 30)).save(file := io.BytesIO(), kind)
    return file.getvalue()


def task(*images: str) -> Task:
    """A task with these pictures."""
    return Task("t/like-this@1", "http://shop.test/", images=images)


async def test_pictures_are_got_once_and_found_by_their_names(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Reply:
        asked.append(request.path)
        return Reply(picture("JPEG"), headers={"Content-Type": "image/jpeg"})

    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "red.png").write_bytes(picture())
    inline = "data:image/png;base64," + base64.b64encode(picture()).decode()
    async with serving() as site:
        site.pages["/red.jpg"] = answer
        wanted = task("pictures/red.png", f"{site.address}/red.jpg", inline)
        pictures = GoalPictures(ImageFolder(tmp_path / "images"), [tmp_path])
        await pictures.fetch([wanted, wanted])
        await pictures.fetch([wanted])
    assert asked == ["/red.jpg"]
    assert pictures.missing == {}
    pictures.need(wanted)
    assert pictures.get("pictures/red.png") == pictures.get(inline) == picture()
    assert pictures.get(f"{site.address}/red.jpg").startswith(b"\x89PNG")
    assert pictures.get(pictures.add(picture())) == picture()


async def test_a_recording_answers_in_place_of_the_network(tmp_path: Path) -> None:
    content = {"text": base64.b64encode(picture()).decode(), "encoding": "base64"}
    request = {"method": "GET", "url": "http://shop.test/red.png", "headers": []}
    response = {"status": 200, "headers": [], "content": content}
    har = tmp_path / "shop.har"
    har.write_text(json.dumps({"log": {"entries": [{"request": request, "response": response}]}}))
    pictures = GoalPictures(ImageFolder(tmp_path / "images"), har=har)
    await pictures.fetch([task("http://shop.test/red.png", "http://shop.test/blue.png")])
    assert pictures.get("http://shop.test/red.png") == picture()
    assert pictures.missing == {"http://shop.test/blue.png": f"not in {har}"}


async def test_what_cannot_be_got_is_named_and_fails_the_world_not_the_agent(tmp_path):
    (tmp_path / "words.png").write_text("no picture")
    pictures = GoalPictures(
        ImageFolder(tmp_path / "images"), [tmp_path], refuses=lambda address: "another site"
    )
    await pictures.fetch([task("words.png", "gone.png", "http://a.test/b.png", "data:,%zz")])
    assert pictures.missing == {
        "words.png": "it is no picture that can be read",
        "gone.png": f"there is no such file; looked in {tmp_path}",
        "http://a.test/b.png": "the guard refuses http://a.test/b.png: another site",
        "data:,%zz": "it is no picture that can be read",
    }
    with pytest.raises(WorldError, match=r"gone\.png is not there: there is no such file"):
        pictures.need(task("gone.png"))
    with pytest.raises(WorldError, match="it was not fetched"):
        pictures.need(task("never.png"))
    with pytest.raises(StoreError):
        pictures.get("gone.png")

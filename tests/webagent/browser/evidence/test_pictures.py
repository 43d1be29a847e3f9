"""Pictures that a probe takes: those loaded, pixel for pixel, and what is seen of the others."""

import base64
import io

import pytest
from PIL import Image

from tasks.task import Json, Probe
from tests.fakes.site import Site
from webagent.browser.evidence import probe_page as pictures
from webagent.store.database import ImageFolder

pytestmark = pytest.mark.browser

PAGE = """<title>Gallery</title><style>#back { background: url("/green.gif"); height: 20px }</style>
<div id="first"><img src="/red.png"><img src="/red.png" width="4"></div>
<div id="second"><span><img src="/blue.jpg" style="display: none"></span></div>
<div id="back"></div>
<img id="inline" src="data:image/png;base64,%s">
<img id="drawn" width="30" height="30" src="data:image/svg+xml,%%3Csvg xmlns='http://www.w3.org/2000/svg'
 %%3E%%3Crect width='300' height='300' fill='rgb(9,9,9)'/%%3E%%3C/svg%%3E">
<img src="/missing.png"><div style="height: 4000px"></div>
<img id="lazy" loading="lazy" src="/lazy.png">"""


def drawn(color: str, kind: str = "PNG", size: tuple[int, int] = (16, 8)) -> bytes:
    """A picture of one colour."""
    written = io.BytesIO()
    Image.new("RGB", size, color).save(written, kind)
    return written.getvalue()


@pytest.fixture
def gallery(site: Site) -> Site:
    """The shop with pictures of every sort."""
    site.page("/gallery", PAGE % base64.b64encode(drawn("yellow")).decode())
    site.page("/red.png", drawn("red"), Content_Type="image/png")
    site.page("/blue.jpg", drawn("blue", "JPEG"), Content_Type="image/jpeg")
    site.page("/green.gif", drawn("lime", "GIF"), Content_Type="image/gif")
    site.page("/lazy.png", drawn("gray"), Content_Type="image/png")
    return site


@pytest.mark.parametrize("clock", ["virtual", "real"])
async def test_pictures_are_kept_as_they_were_loaded(browser, shop_task, gallery, tmp_path, clock):
    scripts = {
        "all": "",
        "parts": "document.querySelectorAll('#first, #second')",
        "one": "document.getElementById('inline')",
        "listed": "[document.querySelector('#back')]",
        "none": "document.querySelector('.nowhere')",
        "empty": "document.querySelectorAll('.nowhere')",
        "wrong": "({a: 1})",
        "text": "'a text'",
    }
    probes = [Probe(name, "pictures", script=script) for name, script in scripts.items()]
    probes += [Probe("there", "pictures", f"{gallery.address}/gallery", scripts["parts"])]
    images = ImageFolder(tmp_path)
    world = await browser.world(keep_picture=images.add)
    task = shop_task("/gallery", probes=tuple(probes), clock=clock)
    assert (await world.reset(task)).screenshot == ""
    evidence = dict(await world.evidence(task))
    await world.close()

    def colors(references: Json) -> list[tuple[int, ...]]:
        assert isinstance(references, list)
        files = [images.get(str(reference)) for reference in references]
        opened = [Image.open(io.BytesIO(file)) for file in files]
        assert {picture.format for picture in opened} <= {"PNG"}
        return [tuple(picture.convert("RGB").getpixel((3, 3))) for picture in opened]  # type: ignore[arg-type]

    red, blue, green, yellow = (255, 0, 0), (0, 0, 254), (0, 255, 0), (255, 255, 0)
    assert colors(evidence["all"]) == [red, blue, green, yellow, (9, 9, 9), (128, 128, 128)]
    assert colors(evidence["parts"]) == colors(evidence["there"]) == [red, blue]
    assert colors(evidence["one"]) == [yellow]
    assert colors(evidence["listed"]) == [green]
    assert evidence["none"] == evidence["empty"] == evidence["text"] == []
    assert images.get(str(evidence["parts"][0])) == drawn("red")
    assert evidence["wrong"] == []


async def test_more_pictures_than_are_kept_are_none(
    browser, shop_task, gallery, tmp_path, monkeypatch
):
    monkeypatch.setattr(pictures, "MOST_PICTURES", 3)
    world = await browser.world(keep_image=ImageFolder(tmp_path).add)
    task = shop_task("/gallery", probes=(Probe("all", "pictures"),))
    await world.reset(task)
    evidence = await world.evidence(task)
    assert evidence == {"uncaptured": {"all": "there are 7 pictures, more than 3"}}
    await world.close()

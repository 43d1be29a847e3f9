"""A screen of its own with a mouse and a keyboard, for windows that somebody uses."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

PROGRAMS = ("Xvfb", "xdotool", "chromium")
FORM = """<title>Shop</title><label>Name <input id=name></label>
<button onclick="document.title = 'Hello ' + document.getElementById('name').value">Send</button>
<script>
  const across = screenX + outerWidth - innerWidth, down = screenY + outerHeight - innerHeight;
  const places = ["input", "button"].map((each) => {
    const box = document.querySelector(each).getBoundingClientRect();
    return [across + box.x + box.width / 2, down + box.y + box.height / 2].map(Math.round);
  });
  fetch("/places", { method: "POST", body: JSON.stringify(places) });
</script>"""
"""A page that greets who is named, and tells where on the screen its field and button are."""

# They are programs of the system: who has none of them can test the rest. `.ci/run` installs them.
needs_screen = pytest.mark.skipif(
    not all(shutil.which(each) for each in PROGRAMS), reason=f"needs {', '.join(PROGRAMS)}"
)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs that are started show their windows there."""
    reading, writing = os.pipe()
    shown = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1400x1000x24", "-noreset"]
    with subprocess.Popen(shown, pass_fds=[writing], stderr=subprocess.DEVNULL) as process:
        os.close(writing)
        with open(reading) as number:
            monkeypatch.setenv("DISPLAY", f":{number.readline().strip()}")
        yield
        process.terminate()


def windows() -> int:
    """How many are shown."""
    search = ["xdotool", "search", "--onlyvisible", "--class", "chromium"]
    return len(subprocess.check_output(search, timeout=30, text=True).split())


def greet(name: str, posted: str) -> None:
    """Fill the form in by hand and send it off, at the places that it has posted."""
    field, button = (map(str, place) for place in json.loads(posted))
    for deeds in (
        ("mousemove", *field, "click", "1", "type", "--delay", "60", name),
        ("mousemove", *button, "click", "1"),
    ):
        subprocess.run(["xdotool", *deeds], check=True, timeout=30)

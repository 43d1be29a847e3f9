"""What a browser leaves in the temporary folder goes, even while somebody still writes there."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import pytest

from webagent.browser import engine
from webagent.browser.engine import OwnedFolder, remove_orphans


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of our own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def profile_in(folder: Path) -> Path:
    """A profile as the driver makes one."""
    profile = folder / "playwright_chromiumdev_profile-x"
    (profile / "Default").mkdir(parents=True)
    return profile


@contextmanager
def still_writing(profile: Path, seconds: float) -> Iterator[None]:
    """A process that is about to end and puts things back until then."""
    ended = threading.Event()
    threading.Timer(seconds, ended.set).start()

    def write() -> None:
        while not ended.is_set():
            with suppress(OSError):
                (profile / "Default").mkdir(exist_ok=True)
                (profile / "Default" / "Cookies").write_text("late")

    writer = threading.Thread(target=write)
    writer.start()
    yield
    writer.join()


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_a_folder_goes_with_its_profile_once_its_last_writer_has_ended(
    scratch: Path, seconds: float
) -> None:
    owned, profile = OwnedFolder(), profile_in(scratch)
    owned.add_profile(profile)
    with still_writing(profile, seconds) if seconds else nullcontext():
        owned.remove()
    assert not list(scratch.iterdir())


def test_what_could_not_go_is_swept_later(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owned, profile = OwnedFolder(), profile_in(scratch)
    owned.add_profile(profile)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "_TRIES", 0)
        owned.remove()
    assert profile.exists()
    assert remove_orphans() == [owned.path]
    assert not list(scratch.iterdir())


def test_the_folder_of_a_living_browser_is_left_alone(scratch: Path) -> None:
    owned = OwnedFolder()
    assert remove_orphans() == []
    assert owned.path.exists()
    owned.remove()
    assert not list(scratch.iterdir())

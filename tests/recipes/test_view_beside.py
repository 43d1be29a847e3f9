"""`improve --view`: the viewer answers while a run is in progress, and is gone after it."""

from urllib.error import URLError
from urllib.request import urlopen

import pytest

from recipes.view import show_while
from tests.fakes.run import fill
from webagent.store import Store


def test_a_run_in_progress_can_be_viewed_until_its_end(tmp_path, capsys):
    with Store.open(tmp_path / "run", create=True) as store:
        fill(store, {("none", 0): 0.5}, repeats=1)
    with show_while(tmp_path / "run"):
        address = capsys.readouterr().err.split("watch it at ")[1].strip()
        with urlopen(address, timeout=30) as page:
            assert page.status == 200 and b"none succeeds in 30.0 %" in page.read()
    with pytest.raises(URLError):
        urlopen(address, timeout=5)


def test_a_run_that_fails_does_not_leave_the_viewer_behind(tmp_path, capsys):
    with pytest.raises(ZeroDivisionError), show_while(tmp_path / "run"):
        raise ZeroDivisionError
    address = capsys.readouterr().err.split("watch it at ")[1].strip()
    with pytest.raises(URLError):
        urlopen(address, timeout=5)

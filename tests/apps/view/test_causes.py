"""Failures are looked into beside the pages, and no longer than the viewer is there."""

import shutil
import time

from apps.view.contents import Archive, ContentsCache
from apps.view.pages import CauseFinder


def test_once_closed_nothing_more_is_found_and_nothing_written(made_runs, tmp_path):
    run = Archive(made_runs).run("one")
    contents = ContentsCache().contents(run)
    waiting = {"somebody"}  # for a page, so that it waits with its first chunk
    finder = CauseFinder(tmp_path / "cache", is_busy=lambda: bool(waiting))
    assert finder.known(run, contents).pending == len(contents.failed) > 40

    finder.close()

    waiting.clear()
    shutil.rmtree(tmp_path / "cache", ignore_errors=True)
    pending = finder.known(run, contents).pending
    time.sleep(0.2)
    assert finder.known(run, contents).pending == pending > len(contents.failed) - 40
    assert not (tmp_path / "cache").exists()

"""`webagent record` from the command line: ended by a signal or an answer, or refused."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recipes.cli import main
from recipes.record import main as record
from webagent.errors import SetupError
from webagent.store import Store

PAGE = "<title>Plain</title><h1>Nothing to do</h1>"


async def recorded(folder: Path, *more: str, typed: str = "") -> tuple[int, str]:
    """Status and output of the program, ended by a typed line or else by Ctrl-C."""
    page = folder / "page.html"
    page.write_text(PAGE)
    program = "import sys; from recipes.cli import main; sys.exit(main())"
    line = [sys.executable, "-c", program, "record", page.as_uri(), "--headless", *more]
    running = await asyncio.create_subprocess_exec(
        *line,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert running.stdin is not None
    said = (await running.stdout.readline()).decode()
    while said and "when you are done" not in said:
        said = (await running.stdout.readline()).decode()
    if typed:
        running.stdin.write(f"{typed}\n".encode())
        await running.stdin.drain()
    else:
        running.send_signal(signal.SIGINT)
    rest = (await running.stdout.read()).decode()
    running.stdin.close()
    return await running.wait(), said + rest


@pytest.mark.browser
async def test_ctrl_c_keeps_what_was_done_and_another_recording_goes_beside_it(tmp_path):
    run = tmp_path / "runs" / "mine"
    status, said = await recorded(
        tmp_path, "--goal", "Look at it", "--runs", str(run.parent), "--name", run.name
    )
    assert (status, "kept 1 steps as" in said) == (0, True), said
    again, told = await recorded(tmp_path, "--into", str(run), "--answer", typed="42")
    assert again == 0, told

    with Store.open(run) as store:
        first, second = store.trajectories(phase="demonstrate")
    assert (first.goal, first.task.goal) == ("Look at it", "Look at it")
    assert first.last.title == "Plain"
    assert getattr(second.steps[-1].decision.action, "text", "") == "42"
    assert "without a goal" in told
    assert first.id != second.id


def test_no_address_and_half_a_profile_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"expected a URL: webagent record .* found 'shop'"):
        record(["shop"])
    with pytest.raises(SetupError, match="--profiles and --site go together"):
        record(["http://a.test", "--site", "shop"])
    assert main(["record", "shop"]) != 0


@pytest.mark.slow
def test_a_browser_that_does_not_start_is_said_once(tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    for program, words in ((broken, "does not start"), (tmp_path / "none", "does not run")):
        line = ["record", "http://127.0.0.1:9/", "--goal", "x", "--runs", str(tmp_path / "runs")]
        done = subprocess.run(
            [sys.executable, "-m", "recipes.cli", *line],
            capture_output=True,
            text=True,
            env=os.environ | {"WEBAGENT_CHROMIUM": str(program)},
            check=False,
        )
        assert done.returncode == 3 and done.stderr.count(words) == 1, done.stderr
        assert not list((tmp_path / "runs").glob("*"))

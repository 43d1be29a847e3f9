"""Inspect's own evaluation on our episodes: as in process, and no score where the world fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.miniwob import tasks as miniwob
from tests.apps.trainers.packages import installed
from tests.apps.trainers.recorded import record
from tests.fakes.chat_server import ChatServer
from tests.fakes.foreign_programs import ROOT, run
from tests.fakes.scripted_model import fail_after, play

pytestmark = [pytest.mark.browser, pytest.mark.very_slow]
NAMES = ("click-test-2", "login-user", "click-checkboxes")


@pytest.fixture(scope="module")
def programs() -> Path:
    return installed("inspect-ai==0.3.285", "openai")


def evaluate(
    programs: Path, folder: Path, url: str, model: ChatServer, names: tuple[str, ...], *more: str
) -> dict[str, Any]:
    """The log that `inspect eval` writes."""
    (folder / "apps").symlink_to(ROOT / "apps")  # Inspect takes files under the folder it runs in
    task = ["apps/trainers/inspect_task.py", "-T", f"url={url}", "-T", f"tasks={','.join(names)}"]
    how = ["--model", "openai-api/local/scripted", "--log-format", "json", "--log-dir", "logs"]
    line = ["inspect", "eval", *task, *how, "--display", "none", *more]
    run(programs, line, folder, {"LOCAL_API_KEY": "none", "LOCAL_BASE_URL": model.url})
    (log,) = (folder / "logs").glob("*.json")
    found: dict[str, Any] = json.loads(log.read_text())
    return found


async def test_episodes_are_the_same_as_in_process(
    programs, served, browser, model_server, tmp_path
):
    expected = {name: await record(browser, miniwob.task(name, 0, "train")) for name in NAMES}
    model_server.will(play({each.texts[0]: each.actions for each in expected.values()}))
    log = evaluate(programs, tmp_path, served.url, model_server, NAMES)
    assert len(log["samples"]) == len(NAMES)
    for sample in log["samples"]:
        wanted = expected[sample["metadata"]["task"]]
        read = [each["content"] for each in sample["messages"] if each["role"] in ("user", "tool")]
        assert read == [*wanted.texts, "The episode is over."]
        score = sample["scores"]["verdict"]
        assert (score["value"], score["metadata"]["ending"]) == (wanted.reward, wanted.ending)


async def test_a_fault_is_the_error_of_its_sample_and_no_score(
    programs, serve, browser, model_server, tmp_path
):
    """Two samples, one after the other; the browser dies in the middle of the first."""
    names = ("login-user", "click-checkboxes")
    expected = {name: await record(browser, miniwob.task(name, 0, "train")) for name in names}
    script = play({each.texts[0]: each.actions for each in expected.values()})
    with serve(tasks=names) as server:
        model_server.will(fail_after(1, server.kill_browser, script))
        one = ("--max-samples", "1", "--score-on-error")
        log = evaluate(programs, tmp_path, server.url, model_server, names, *one)
    lost, kept = sorted(log["samples"], key=lambda sample: sample.get("error") is None)
    assert "EXECUTION_ERROR" in lost["error"]["message"] and not lost.get("scores")
    assert kept["scores"]["verdict"]["value"] == expected[kept["metadata"]["task"]].reward
    (told,) = log["results"]["scores"]
    assert told["metrics"]["accuracy"]["value"] == 1.0, "the lost sample is no zero in the mean"


async def test_a_lost_sample_is_played_again_where_retries_are_allowed(
    programs, serve, browser, model_server, tmp_path
):
    expected = await record(browser, miniwob.task("login-user", 0, "train"))
    script = play({expected.texts[0]: expected.actions})
    with serve(tasks=("login-user",)) as server:
        model_server.will(fail_after(1, server.kill_browser, script))
        log = evaluate(
            programs, tmp_path, server.url, model_server, ("login-user",), "--retry-on-error=1"
        )
    (sample,) = log["samples"]
    assert sample["scores"]["verdict"]["value"] == expected.reward

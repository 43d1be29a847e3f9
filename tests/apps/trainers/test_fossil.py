"""Fossil, whose site changes as it is used: as in process, and in verifiers' own evaluation."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from apps.trainers.episode import EpisodeChoice, TrainerEpisode
from benchmarks.catalogue import find_benchmark
from benchmarks.fossil.site import site
from benchmarks.sites.hosting import Hosting
from tests.apps.trainers.packages import installed
from tests.apps.trainers.recorded import RecordedEpisode, record_in
from tests.fakes.foreign_programs import evaluate_in_verifiers
from tests.fakes.scripted_model import mask_instance, play
from webagent.browser import Browser

MISSING = site().missing()
pytestmark = [
    pytest.mark.site,
    pytest.mark.browser,
    pytest.mark.very_slow,
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
NAMES = ("ticket-close", "ticket-find-field", "wiki-append-line")


async def record_all(browser: Browser) -> dict[str, RecordedEpisode]:
    """The oracles' episodes in process."""
    suite = find_benchmark("fossil").load()
    async with Hosting(1) as hosting:
        await hosting.prepare([suite.task(NAMES[0], 0, "train")])
        open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))
        found = {}
        for name in NAMES:
            world = await open_world()
            found[name] = await record_in(world, suite.task(name, 0, "train"))
            await world.close()
    return found


def read_all(server: Any, expected: dict[str, RecordedEpisode]) -> None:
    """Play what was recorded through the adapters' own episode."""
    episode = TrainerEpisode(server.url)
    for name, wanted in expected.items():
        text = episode.begin(EpisodeChoice(name, 0))
        for page, action in zip(wanted.texts, wanted.actions, strict=True):
            assert mask_instance(text) == mask_instance(page)
            text = episode.act(action)
        verdict = episode.verdict()
        assert (verdict.reward, verdict.ending) == (wanted.reward, wanted.ending)
    episode.close()


async def test_episodes_are_the_same_in_process_through_the_server_and_in_verifiers(
    serve, browser, model_server, tmp_path
):
    expected = await record_all(browser)
    script = {each.texts[0]: each.actions for each in expected.values()}
    model_server.will(play(script))
    with serve(benchmark="fossil", tasks=NAMES, max_sessions=2) as server:
        await asyncio.to_thread(read_all, server, expected)
        programs = installed("verifiers==0.4.0", "uv")
        arguments = (programs, tmp_path, server.url, model_server, NAMES)
        episodes = await asyncio.to_thread(evaluate_in_verifiers, *arguments)
    for episode in episodes:
        (trace,) = episode["traces"]
        wanted = expected[trace["task"]["data"]["task"]]
        read = [n["message"]["content"] for n in trace["nodes"] if n["message"]["role"] == "user"]
        assert [*map(mask_instance, read)] == [*map(mask_instance, wanted.texts)]
        assert trace["rewards"]["verdict"]["score"] == wanted.reward, json.dumps(trace["info"])
    assert sum(each.reward for each in expected.values()) == len(NAMES)

"""What the Python blocks of the pages are run with, or why they are only looked at.

An entry is found by its page and by words that stand in the block. A block that is new in a page
has to be put into one of the two tables.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from perf.documentation import ROOT
from tests.docs import scenes
from tests.docs.scenes import Lay, Place

Given = Callable[[Path], dict[str, Any]]
"""Names that a block finds there, made in the folder it is run in."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """How a block is run."""

    given: Given = lambda folder: {}
    lay: tuple[Lay, ...] = ()
    swap: dict[str, str] = field(default_factory=dict)
    """Text of the block to other text, for what only the reader can fill in."""
    says: str = ""
    """Words that it has to print."""
    needs: tuple[str, ...] = ()
    """Programs without which it is not run."""


def stored(folder: Path) -> dict[str, Any]:
    """A run with what pages call its parts, and a model that has its replies in a list."""
    from evaluators.labels import Label, add_label
    from webagent.models import CannedModel
    from webagent.store import Store

    with Store.open(folder / "run") as store:
        episodes = list(store.trajectories("finished"))
        scores = store.scores("finished")
    add_label(folder / "run", Label(episodes[0].id, 1.0, annotator="ada"))
    return {
        "store": store,
        "episodes": episodes,
        "trajectory": episodes[0],
        "scores": scores,
        "run_folder": folder / "run",
        "path": folder / "run",
        "model": CannedModel(['Thought: it is done.\nAction: answer("done")'] * 50),
    }


def judges(folder: Path) -> dict[str, Any]:
    """Two evaluators, the second of which asks the model that it is given."""
    from evaluators import checks_hold, judge_variant
    from webagent.models import Prices

    given = stored(folder)
    look = given["store"].images.get
    return {
        **given,
        "cheap": checks_hold(),
        "dear_judge_on": lambda model: judge_variant("evidence", model, look),
        "prices": Prices(),
    }


def hosted(folder: Path) -> dict[str, Any]:
    """A task on a site that is started here, and a script that answers it."""
    from benchmarks.catalogue import find_benchmark
    from webagent.action import Answer
    from webagent.policy import ScriptedPolicy, play_actions

    return {
        "policy": ScriptedPolicy(play_actions([Answer("done")])),
        "tasks": [find_benchmark("fossil").load().task("ticket-close", 0, "test")],
    }


def words(folder: Path) -> dict[str, Any]:
    """What a fragment about tasks takes for granted."""
    from benchmarks.sites import Instance, find_site
    from tasks.task import Task, TaskCheck

    return {
        "TaskCheck": TaskCheck,
        "Task": Task,
        "Path": Path,
        "Instance": Instance,
        "find_site": find_site,
    }


def refused(folder: Path) -> dict[str, Any]:
    """An episode that was played under a guard."""
    kept = {"refused": 0, "refusals": [], "writes": [], "unused": [], "verified": None}
    return {"trajectory": SimpleNamespace(evidence={"guard": kept})}


def outlined(folder: Path) -> dict[str, Any]:
    """An entry of the record `elements`."""
    from bs4 import BeautifulSoup

    entry = {"outline": "<div id=main><p><p><p><a data-acted>x</a></div>"}
    return {"BeautifulSoup": BeautifulSoup, "entry": entry}


def careful(folder: Path) -> dict[str, Any]:
    """A judge that believes what the checks say."""
    from evaluators import checks_hold

    return {"my_judge": checks_hold()}


def demonstration(name: str) -> Lay:
    """A run in which a person has pressed a button."""

    def lay(place: Place) -> None:
        from webagent.store import Store

        folder = place.folder / name
        with Store.open(place.run) as store:
            found = store.trajectories("finished")
            chosen = next(each for each in found if each.task.name == "click-test")
        shown = replace(chosen, provenance=replace(chosen.provenance, phase="demonstrate"))
        with Store.open(folder, create=True) as store:
            store.add(shown)

    return lay


RUN = (scenes.run("run"),)
PLAIN_SITE = scenes.written("sites.toml", "[sites.shop]\nlocale = 'de-DE'\n")
LOCAL_PAGE = (ROOT / "tests/pages/form.html").as_uri()

RUNNING: dict[tuple[str, str], Snippet] = {
    ("docs/fossil.md", "running.reset()"): Snippet(says="http://127.0.0.1:", needs=("fossil",)),
    ("docs/fossil.md", "ticket-close"): Snippet(says="ticket"),
    ("docs/gymnasium.md", "gymnasium.register_envs"): Snippet(),
    ("docs/guard.md", "Guard.read("): Snippet(
        lay=(scenes.page_block("toml", "guard.toml", "docs/guard.md"),)
    ),
    ("docs/guard.md", 'evidence["guard"]'): Snippet(refused),
    ("docs/howto/own-benchmark.md", "def suite("): Snippet(says="Buy "),
    ("docs/howto/own-benchmark.md", '@planned("add")'): Snippet(swap={'"add"': '"own-add"'}),
    ("docs/howto/own-model.md", "class FirstButton"): Snippet(says="task over 1"),
    ("docs/howto/own-judge.md", "was_short"): Snippet(
        lay=(scenes.run("runs/NAME"),), says="click-test 1.0 1 steps"
    ),
    ("docs/judging/adversarial.md", "measure_pass_rates"): Snippet(careful),
    ("docs/judging/agreement.md", "add_label("): Snippet(stored, RUN),
    ("docs/judging/agreement.md", "pair_scores("): Snippet(stored, RUN),
    ("docs/judging/attribution.md", "summarize("): Snippet(stored, RUN),
    ("docs/judging/evidence.md", "probes=("): Snippet(),
    ("docs/judging/evidence.md", "har_events"): Snippet(
        words, (scenes.written("network.har", '{"log": {"entries": []}}'),)
    ),
    ("docs/judging/evidence.md", "BeautifulSoup("): Snippet(outlined),
    ("docs/judging/judge.md", "judge_variant("): Snippet(stored, RUN),
    ("docs/judging/judge.md", "judge.examine("): Snippet(stored, RUN),
    ("docs/judging/verified.md", '"number_is"'): Snippet(words),
    ("docs/judging/votes.md", "CountedModel("): Snippet(judges, RUN),
    ("docs/sites.md", "changes_are"): Snippet(words),
    ("docs/sites.md", "Hosting(concurrency=8)"): Snippet(hosted, needs=("fossil",)),
    ("docs/models.md", "EndpointModel("): Snippet(
        lay=(scenes.page_block("toml", "webagent.toml", "docs/models.md"),)
    ),
    ("docs/worldmodel.md", "CopyPage"): Snippet(stored, RUN, says="\n"),
    ("docs/worldmodel.md", "remember_run("): Snippet(lay=(scenes.run("runs/demo"),)),
    ("docs/proposing.md", "suite(Options("): Snippet(
        words,
        (scenes.task_lines("runs/p/proposals.jsonl", {"id": "a/b@1", "start_url": "about:blank"}),),
    ),
    ("docs/recording.md", "replay_recording(demonstration)"): Snippet(
        lay=(demonstration("runs/record-20261122-101500"),), says="task over"
    ),
    ("docs/sites.md", "read_profile("): Snippet(
        lay=(PLAIN_SITE,), swap={"https://shop.example/orders": LOCAL_PAGE}, says="answered"
    ),
}

LOOKED_AT: dict[tuple[str, str], str] = {
    ("docs/howto/serve.md", "from apps.serve.client"): "a running server; tests/apps/serve has one",
    ("docs/howto/student.md", 'student="kayaks"'): "a model behind a server of the reader's",
    ("README.md", "agent.run_sync"): "a live site; tests/webagent/agent runs it",
    ("docs/running.md", "print(result.answer"): "a live site; tests/webagent/agent runs it",
    ("docs/running.md", "asyncio.gather"): "a live site; tests/webagent/agent runs it",
    ("docs/running.md", "@custom_action"): "stays an action; tests/webagent/agent runs it",
    ("docs/benchmarks.md", 'find_benchmark("webarena")'): "published task files",
    ("docs/judging/reward.md", "LanguageReward("): "weights of a training",
    ("docs/judging/verified.md", "hard_subset()"): "published task files",
    ("docs/judging/verified.md", "network_events("): "published task files",
    ("docs/judging/verified.md", "key_nodes_reached"): "published task files",
    ("docs/judging/verified.md", "gaia_web.tasks("): "published task files",
    ("docs/judging/webarena.md", "webchorearena.read("): "published task files",
    ("docs/judging/webarena.md", "with_folder("): "published task files",
    ("docs/memory.md", 'Store.open("runs/demo")'): "a run of minutes; tests/webagent/memory",
    ("docs/training.md", "LocalModel.load("): "weights of the model hub",
}

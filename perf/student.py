"""What a student takes over from an expert with one mistake in ten: docs/howto/student.md.

    python perf/student.py miniwob --seeds 15 --measured 10
    python perf/student.py oscar --tasks all --seeds 5 --measured 2 --out docs/results/student.json
    python perf/student.py miniwob --split test --first-seed 1000

The expert is the endpoint policy, asking a real server on this machine over HTTP. What the server
replies is scripted: the oracle's next action, one time in ten, by chance, something else. The
student learns while `webagent collect` plays 300 episodes with the expert; then `webagent
benchmark` measures the two together, and the expert alone, on the same seeds. Where the run of the
lessons is there already, it is brought to its end. Beside the expert alone the student only says
what it would do, so that its calibration is told on every step.
"""

import argparse
import json
import os
import sys
import threading
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":  # perf is installed nowhere
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.oracles import OraclePolicy
from loop.summary.students import summarize_students
from recipes import benchmark, collect
from tests.fakes.chat_server import ChatHandler, ChatServer, completion, counted
from webagent.action import Action, GiveUp, format_action
from webagent.action.actions import Check, Click, Uncheck
from webagent.errors import PolicyError
from webagent.observation import render
from webagent.policy.language import LanguagePolicy
from webagent.policy.remembering import random_action
from webagent.records import Decision, Observation, Trajectory
from webagent.store import Store

MISTAKES = 0.1
"""Share of the expert's answers that are wrong."""
PRICES = """
currency = "USD"
[models.expert]
input = 2.5
output = 10
"""
EXPERT = ("--policy", "endpoint", "--model", "expert", "--temperature", "0")
_ask = LanguagePolicy.act


class Expert:
    """The server, with what it is to reply to each page that is about to be sent to it."""

    def __init__(self) -> None:
        self.server = ChatServer()
        self.server.will(self._reply)
        self._answers: dict[str, str] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    async def expect(self, trajectory: Trajectory, observation: Observation) -> None:
        """Have the server know what the oracle would do now, or a mistake in its place."""
        try:
            action = (await OraclePolicy(trajectory.task.name).act(trajectory, observation)).action
        except PolicyError as error:
            action = GiveUp(str(error))
        task = trajectory.task
        place = f"{task.name}|{len(trajectory.steps)}".encode()
        rng = np.random.default_rng([task.seed, zlib.crc32(place)])
        if rng.random() < MISTAKES:
            action = self._mistake(action, observation, rng)
        if isinstance(action, Check | Uncheck):
            action = Click(action.mark)
        with self._lock:
            self._answers[f"{observation.goal}\n{render(observation)}"] = format_action(action)

    @staticmethod
    def _mistake(right: Action, page: Observation, rng: np.random.Generator) -> Action:
        for _ in range(20):
            action = random_action(page, rng, 0.5)
            if action is not None and action != right:
                return action
        return GiveUp("there is nothing else to do")

    def _reply(self, handler: ChatHandler, body: dict[str, Any]) -> None:
        text = str(body["messages"][-1]["content"])
        with self._lock:
            action = next(
                action
                for shown, action in reversed(self._answers.items())
                if all(part in text for part in shown.split("\n", 1))
            )
        said = f"Thought: this comes next.\nAction: {action}"
        handler.send(completion([said], prompt_tokens=counted(body)))


def main(argv: Sequence[str] | None = None) -> None:
    """Let the student learn, measure, and write the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("benchmark")
    parser.add_argument("--tasks", nargs="*", default=[])
    parser.add_argument("--seeds", type=int, default=15, help="of each task, to learn from")
    parser.add_argument("--count", type=int, default=300, help="episodes to learn from, at most")
    parser.add_argument("--measured", type=int, default=10, help="seeds of each task, to measure")
    parser.add_argument("--split", default="development", help="seeds to measure on")
    parser.add_argument("--first-seed", type=int, default=0, help="of those, in the split")
    parser.add_argument("--sure", type=float, default=0.8)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--out", type=Path, help="file that the figures are added to")
    options = parser.parse_args(argv)
    expert = Expert()

    async def act(self: LanguagePolicy, t: Trajectory, observation: Observation) -> Decision:
        await expert.expect(t, observation)
        return await _ask(self, t, observation)

    LanguagePolicy.act = act  # type: ignore[method-assign]  # so that the server knows the oracle's
    os.environ |= {"OPENAI_BASE_URL": expert.server.url, "OPENAI_API_KEY": "none"}
    options.runs.mkdir(parents=True, exist_ok=True)
    Path("prices.toml").write_text(PRICES, encoding="utf-8")
    found = _measure(options)
    print(json.dumps(found, indent=1))
    if options.out is not None:
        known = json.loads(options.out.read_text()) if options.out.exists() else {}
        known[options.benchmark] = found
        options.out.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _measure(options: argparse.Namespace) -> dict[str, Any]:
    name = f"student-{options.benchmark}"
    shared = ["--benchmark", options.benchmark, *EXPERT, "--runs", str(options.runs)]
    shared += ["--tasks", *options.tasks] if options.tasks else []
    taught = ["--student-confidence", str(options.sure)]
    lessons = [*shared, *taught, "--student", "builtin", "--name", name]
    lessons += ["--seeds", str(options.seeds), "--count", str(options.count)]
    known = options.runs / name
    collect.main(["--resume", str(known)] if known.exists() else lessons)
    measured = [*shared, "--seeds", str(options.measured), "--split", options.split]
    measured += ["--first-seed", str(options.first_seed), "--no-baselines"]
    student = options.runs / name / "student"
    place = f"{name}-{options.split}-{options.first_seed}"
    together = [*taught, "--student", str(student), "--name", f"{place}-both"]
    both = benchmark.main([*measured, *together])
    # A student that would have to be wholly sure never acts, and is compared with every answer.
    silent = ["--student-confidence", "1", "--student", str(student), "--name", f"{place}-alone"]
    alone = benchmark.main([*measured, *silent])
    with Store.look(options.runs / name) as store:
        figures: dict[str, Any] = {"learning": summarize_students(store)[0]}
    for word, outcome in (("together", both), ("expert alone", alone)):
        facts: Any = outcome.facts
        row = facts["arms"][0]["rounds"][-1]
        figures[word] = {name: row[name] for name in ("success", "low", "high", "episodes")}
        figures[word] |= {"spent": facts["spent"]["run"], "steps": facts["spent"]["steps"]}
        figures[word] |= {"commit": facts["commit"], "command": facts["command"]}
        told: Any = outcome.facts["students"]
        figures[word] |= told[0]
    return figures


if __name__ == "__main__":
    main()

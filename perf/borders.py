"""The same episodes in process and across every border: Gymnasium, OpenEnv, TRL, verifiers.

    python perf/borders.py [--benchmark fossil] [--seeds 100] [--verifiers FOLDER]
                           [--verified 10] [--openenv PYTHON] [--out FILE]

Each page of the twenty common MiniWoB++ tasks, or of all tasks of another benchmark, is played in
process; what was done there is done again across each border, and what a model reads before every
action, the reward and the ending must be the same. Of sites the port, times, ages, hashes and
passwords that they suggest are left out. A quarter of the pages, by what they show, is clicked on
at random and given up, so that failures are compared, too. FOLDER holds the programs of an
environment with verifiers, whose own evaluation is run; PYTHON has openenv-core, else our client
speaks its protocol. With FILE a page played before is not played again. A row a border; exits with
1 where anything differs.
"""

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":  # perf is installed nowhere
    sys.path.insert(0, str(ROOT))

from apps.trainers.episode import write_page  # noqa: E402
from benchmarks.catalogue import find_benchmark  # noqa: E402
from benchmarks.oracles import OraclePolicy  # noqa: E402
from benchmarks.rules import checks_hold  # noqa: E402
from benchmarks.sites.hosting import Hosting  # noqa: E402
from tests.fakes.chat_server import ChatHandler, serving  # noqa: E402
from tests.fakes.foreign_programs import evaluate_in_verifiers  # noqa: E402
from tests.fakes.scripted_model import mask_instance, read_text, send_message  # noqa: E402
from webagent.action import Action, format_action, parse_action  # noqa: E402
from webagent.action.actions import Click, CustomAction, GiveUp  # noqa: E402
from webagent.action.grammar import ACTION_NAMES  # noqa: E402
from webagent.browser import Browser  # noqa: E402
from webagent.observation import render  # noqa: E402
from webagent.policy.policy import ScriptedPolicy  # noqa: E402
from webagent.records import Decision, Observation, Provenance, Trajectory  # noqa: E402
from webagent.rollout import collect, plan_episodes  # noqa: E402

STRAY_CLICKS = 3
_TOKENS = 2000


@dataclass(frozen=True, slots=True)
class BorderEpisode:
    """What crosses a border in one episode; as many texts as actions."""

    benchmark: str
    task: str
    seed: int
    texts: tuple[str, ...]
    actions: tuple[str, ...]
    reward: float
    ending: str


class StrayingOracle:
    """Solves a page, or clicks at random and gives up; which, the first page decides."""

    async def act(self, trajectory: Trajectory, observation: Observation) -> Decision:
        """Decide by what has been seen, and nothing else, so that a model can do the same."""
        read = read_episode(trajectory, observation)
        if zlib.crc32(read[0].encode()) % 4:
            return await OraclePolicy().act(trajectory, observation)
        return await ScriptedPolicy(_stray).act(trajectory, observation)

    async def propose(
        self, trajectory: Trajectory, observation: Observation, n: int
    ) -> Sequence[Decision]:
        """Return the one decision."""
        return [await self.act(trajectory, observation)]


def _stray(trajectory: Trajectory, observation: Observation) -> Action:
    drawn = random.Random(zlib.crc32("".join(read_episode(trajectory, observation)).encode()))
    marks = [node.mark for node in observation.nodes if node.mark]
    if len(trajectory.steps) >= STRAY_CLICKS or not marks:
        return GiveUp("lost")
    return Click(drawn.choice(marks))


def read_episode(trajectory: Trajectory, *now: Observation) -> tuple[str, ...]:
    """Return what a model has read, a text for each page."""
    pages = (*(step.observation for step in trajectory.steps), *now)
    seen = [
        {"goal": p.goal, "outcome": p.outcome, "url": p.url, "page": render(p, _TOKENS)}
        for p in pages
    ]
    texts = tuple(write_page(each, is_first=not place) for place, each in enumerate(seen))
    return tuple(map(mask_instance, texts)) if trajectory.task.site else texts


async def play_in_process(benchmark: str, task: str, seeds: Sequence[int]) -> list[BorderEpisode]:
    """Play the pages in process, two at a time."""
    suite = find_benchmark(benchmark).load()
    tasks = [suite.task(task, seed, "train") for seed in seeds]
    plan = plan_episodes(tasks, Provenance())
    async with Hosting(2) as hosting, Browser() as browser:
        await hosting.prepare(tasks)
        open_world = hosting.worlds(partial(browser.world, logins=hosting.logins))
        played = await collect(plan, StrayingOracle(), open_world, concurrency=2)
    assert len(played) == len(plan), "the world failed in some"
    found = []
    for seed, whole in zip(seeds, played, strict=True):
        score = await checks_hold()(whole)
        assert score.value is not None
        actions = tuple(format_action(step.decision.action) for step in whole.steps)
        texts = read_episode(whole)
        ended = (actions, score.value, str(whole.ending))
        found.append(BorderEpisode(benchmark, task, seed, texts, *ended))
    return found


Border = Callable[[Sequence[BorderEpisode]], Iterator[BorderEpisode]]
"""Does what was done in process again; yields what came of it, in the same order."""


def cross_gymnasium(wanted: Sequence[BorderEpisode]) -> Iterator[BorderEpisode]:
    """Play them in the environment of Gymnasium."""
    import gymnasium

    import apps.environment

    gymnasium.register_envs(apps.environment)
    name = f"{wanted[0].benchmark}/{wanted[0].task}"
    env = gymnasium.make("webagent/Task-v1", task=name)
    for each in wanted:
        seen, _ = env.reset(options={"index": each.seed, "split": "train"})
        texts, reward, info = [], 0.0, {}
        for action in each.actions:
            texts.append(write_page(seen, is_first=not texts))
            seen, reward, terminated, truncated, info = env.step(action)
            if terminated or truncated:
                break
        yield _crossed(each, texts, float(reward), str(info.get("ending", "goes on")))
    env.close()


def cross_openenv(url: str, python: str) -> Border:
    """Play them through a server, with OpenEnv's own client where there is a Python that has it."""

    def cross(wanted: Sequence[BorderEpisode]) -> Iterator[BorderEpisode]:
        told = json.dumps([asdict(each) for each in wanted])
        program = [python or sys.executable, str(ROOT / "tests" / "fakes" / "openenv_child.py")]
        kind = "openenv" if python else "ours"
        done = subprocess.run(
            [*program, url, kind], input=told, capture_output=True, text=True, check=True, cwd=ROOT
        )
        for each, turns in zip(wanted, json.loads(done.stdout), strict=True):
            *before, last = turns
            texts = [write_page(t["seen"], is_first=not n) for n, t in enumerate(before)]
            yield _crossed(each, texts, last["reward"], last["seen"]["ending"])

    return cross


def cross_trl(url: str) -> Border:
    """Play them in the environments that TRL's trainer makes, by the methods that it calls."""

    def cross(wanted: Sequence[BorderEpisode]) -> Iterator[BorderEpisode]:
        from apps.trainers.trl_environment import make_environment

        own = [name for made, name in ACTION_NAMES.items() if not issubclass(made, CustomAction)]
        env = make_environment(url, own)()
        for each in wanted:
            texts = [env.reset(task=each.task, seed=each.seed, split="train")]
            for text in each.actions:
                action = parse_action(text)
                given = {
                    k: list(v) if isinstance(v, tuple) else v for k, v in asdict(action).items()
                }
                texts.append(getattr(env, ACTION_NAMES[type(action)])(**given))
            yield _crossed(each, texts[:-1], env.get_reward(), env._episode.verdict().ending)

    return cross


def cross_verifiers(url: str, programs: Path) -> Border:
    """Play them in verifiers' own evaluation; the model answers by all that it has read."""

    def cross(wanted: Sequence[BorderEpisode]) -> Iterator[BorderEpisode]:
        script = make_script(wanted)
        is_site = _is_site(wanted[0].benchmark)

        def behave(handler: ChatHandler, body: dict[str, Any]) -> None:
            users = [each for each in body["messages"] if each["role"] == "user"]
            read = tuple(read_text(each["content"]) for each in users)
            action = script.get(tuple(map(mask_instance, read)) if is_site else read, "")
            action = action or "give_up('never seen in process')"
            message = {"role": "assistant", "content": f"I act.\nAction: {action}"}
            send_message(handler, body, message)

        seeds = ("--env.taskset.seeds", str(1 + max(each.seed for each in wanted)))
        with serving(behave) as model, tempfile.TemporaryDirectory() as folder:
            where = (programs, Path(folder), url, model, (wanted[0].task,))
            played = evaluate_in_verifiers(*where, *seeds, seconds=300 + 10 * len(wanted))
        traces = {
            trace["task"]["data"]["seed"]: trace
            for each in played
            for trace in each["traces"]
            if each["ok"]
        }
        for each in wanted:
            trace = traces[each.seed]
            messages = [node["message"] for node in trace["nodes"]]
            texts = [m["content"] for m in messages if m["role"] == "user"]
            reward = trace["rewards"]["verdict"]["score"]
            yield _crossed(each, texts, reward, trace["info"]["ending"])

    return cross


def make_script(wanted: Sequence[BorderEpisode]) -> Mapping[tuple[str, ...], str]:
    """Return the next action by all texts read so far. Raises `ValueError` where two episodes
    that look the same go on differently."""
    script: dict[tuple[str, ...], str] = {}
    for each in wanted:
        for number, action in enumerate(each.actions, 1):
            if script.setdefault(each.texts[:number], action) != action:
                raise ValueError(f"{each.task} {each.seed}: another action on the same pages")
    return script


def _crossed(
    wanted: BorderEpisode, texts: Sequence[str], reward: float | None, ending: str
) -> BorderEpisode:
    value = float("nan") if reward is None else reward
    if _is_site(wanted.benchmark):
        texts = [mask_instance(each) for each in texts]
    return replace(wanted, texts=tuple(texts), reward=value, ending=ending)


@cache
def _is_site(benchmark: str) -> bool:
    suite = find_benchmark(benchmark).load()
    return bool(suite.task(suite.names[0], 0, "train").site)


def compare(wanted: BorderEpisode, found: BorderEpisode) -> str:
    """Return what differs; empty where nothing does. A text comes first, as rewards follow it."""
    pairs = list(zip(wanted.texts, found.texts, strict=False))
    for number, (ours, theirs) in enumerate(pairs):
        lines = zip_longest(ours.split("\n"), theirs.split("\n"), fillvalue="")
        for a, b in lines:
            if a != b:
                return f"text {number} of {len(wanted.texts)}: {b!r}, in process {a!r}"
    for name in ("reward", "ending"):
        if getattr(wanted, name) != getattr(found, name):
            return f"{name} {getattr(found, name)!r}, in process {getattr(wanted, name)!r}"
    if len(wanted.texts) != len(found.texts):
        return f"{len(found.texts)} texts, in process {len(wanted.texts)}"
    return ""


@contextmanager
def serve(benchmark: str, *more: str) -> Iterator[str]:
    """Run `webagent serve` with all tasks of the benchmark; yield its address."""
    program = [sys.executable, "-m", "recipes.cli"]
    line = [*program, "serve", benchmark, "--tasks", "all", "--port", "0"]
    with subprocess.Popen([*line, *more], stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        try:
            assert server.stdout is not None
            found = next(m for text in server.stdout if (m := re.search(r"http://[\w.:]+", text)))
            yield found[0].rstrip(".")
        finally:
            server.terminate()


def play_all(
    benchmark: str,
    borders: Mapping[str, Border],
    tasks: Sequence[str],
    seeds: int,
    kept: Path | None,
    verified: int,
) -> tuple[Counter[str], list[str]]:
    """Play each task in process and across the borders; the episodes of each, and what differs.
    verifiers, which starts a process for each episode, plays the first `verified` pages."""
    counts: Counter[str] = Counter()
    differences = []
    known = [json.loads(line) for line in kept.read_text().splitlines()] if _is_there(kept) else []
    done = {(each["task"], each["border"]): each for each in known if each["seeds"] == seeds}
    for task in tasks:
        missing = [name for name in borders if (task, name) not in done]
        wanted = asyncio.run(play_in_process(benchmark, task, range(seeds))) if missing else []
        rows = [done[task, name] for name in ("process", *borders) if (task, name) in done]
        if ("process" not in [row["border"] for row in rows]) and wanted:
            rows.append(_row(task, "process", seeds, wanted, []))
        for name in missing:
            part = wanted[:verified] if name == "verifiers" else wanted
            found = list(borders[name](part))
            told = [
                f"{name}: {a.task} {a.seed}: {said}"
                for a, b in zip(part, found, strict=True)
                if (said := compare(a, b))
            ]
            rows.append(_row(task, name, seeds, found, told))
        if kept is not None and missing:
            with kept.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows if row not in known)
        for row in rows:
            counts[row["border"]] += row["episodes"]
            differences += row["differences"]
            print(task, row["border"], row["episodes"], len(row["differences"]), flush=True)
    return counts, differences


def _is_there(kept: Path | None) -> bool:
    return kept is not None and kept.exists()


def _row(
    task: str, border: str, seeds: int, played: Sequence[BorderEpisode], told: list[str]
) -> dict[str, Any]:
    return {
        "task": task,
        "border": border,
        "seeds": seeds,
        "episodes": len(played),
        "steps": sum(len(each.actions) for each in played),
        "solved": sum(each.reward == 1.0 for each in played),
        "differences": told,
    }


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--benchmark", default="miniwob")
    parser.add_argument("--seeds", type=int, default=100, help="pages of each task (100)")
    parser.add_argument("--tasks", nargs="+", help="(twenty of miniwob, else all)")
    parser.add_argument("--verifiers", type=Path, help="programs of an environment with verifiers")
    parser.add_argument("--verified", type=int, default=10, help="pages of each task for it (10)")
    parser.add_argument("--openenv", default="", help="a Python with openenv-core 0.3")
    parser.add_argument("--out", type=Path, help="a line of JSON for each task and border")
    asked = parser.parse_args()
    suite = find_benchmark(asked.benchmark).load()
    tasks = suite.select(asked.tasks or ["twenty" if "twenty" in suite.groups else "all"])
    with serve(asked.benchmark, "--max-sessions", "8") as url:
        borders: dict[str, Border] = {
            "gymnasium": cross_gymnasium,
            "openenv": cross_openenv(url, asked.openenv),
            "trl": cross_trl(url),
        }
        if asked.verifiers:
            borders["verifiers"] = cross_verifiers(url, asked.verifiers)
        counts, differences = play_all(
            asked.benchmark, borders, tasks, asked.seeds, asked.out, asked.verified
        )
    for name, count in counts.items():
        wrong = sum(each.startswith(f"{name}:") for each in differences)
        print(f"{name:12s} {count:6d} episodes, {wrong} differ from those in process")
    print(f"{counts.total():,} episodes")
    print(*differences[:20], sep="\n")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()

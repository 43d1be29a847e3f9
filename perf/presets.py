"""Published recipes played end to end on fossil, killed once and resumed: docs/presets.md.

    python perf/presets.py --runs runs/presets
    python perf/presets.py --runs runs/presets --only pae webrl
    python perf/presets.py --weights FOLDER --served FILE.toml

Policy, judge and proposer are models behind a real server on this machine that replies from a
script; where a preset trains weights it is played once more with a tiny model of random weights.
With --weights, pretrained weights (perf/pretrained.py) are policy and world on the tutorial's site,
and the model that the file's table [endpoint] describes is judge and proposer: nothing is scripted.
What the built-in agent finds on the site by itself is demonstrated to them.
Each run is small, is killed with -9 in the middle of a round and goes on with --resume.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

if __name__ == "__main__":  # perf is installed nowhere
    sys.path.insert(0, str(Path(__file__).parents[1]))

from loop.summary.learning import format_learning
from loop.summary.schema import LearningRow
from tests.fakes import tiny_models
from tests.fakes.chat_server import ChatServer
from tests.fakes.roles import play_roles
from webagent.models.fresh import ModelShape, create_model
from webagent.store import Store

SMALL = """--benchmark fossil --tasks ticket-read-field ticket-find-field --steps 24 --evaluate 1
--concurrency 2 --judge judge:pae --judge-model judge
--proposer-model proposer --propose 2 --max-tokens 128 --base-tokens 2000
--round-tokens 2000"""
SERVED = "--policy endpoint --model policy"
OWN = "--policy local:{weights} --prompt brief direct "
PLAYED = {
    "pae": f"--preset pae --rounds 2 {SERVED}",
    "webrl": f"--preset webrl --rounds 2 {SERVED}",
    "go-browse": f"--preset go-browse {SERVED}",
    "webevolver, own weights": f"--preset webevolver --rounds 2 --demonstrations 1 --dreams 3"
    f" --judge judge:agentrewardbench --proposer endpoint {OWN}",
    "pae, own weights": f"--preset pae --rounds 2 {OWN} --lora 0",
    "webrl, own weights": f"--preset webrl --rounds 2 {OWN} --observation text",
    "go-browse, own weights": f"--preset go-browse {OWN}",
    "early-experience, own weights": f"--preset early-experience --demonstrations 1 {OWN}",
}
SHOWN = """--benchmark own --files docs/example/practice.jsonl --sites docs/example/sites.toml
--arms none self --rounds 1 --steps 150 --round-tokens 2000 --evaluate 1 --workers 1"""
"""The built-in agent learns the site by itself; its successes are the demonstrations."""
PRETRAINED_SMALL = """--benchmark own --files docs/example/practice.jsonl
--sites docs/example/sites.toml --rounds 3 --steps 18 --evaluate 1 --evaluate-every 3
--concurrency 2 --workers 1 --judge-model {served} --proposer-model {served} --propose 2
--policy local:{weights} --prompt brief direct --actions click fill answer --max-tokens 64
--demonstrated {shown} --demonstrations 1 --base-tokens 50000 --round-tokens 12000 --lora 16
--learning-rate 1e-3 --batch 2 --micro-batch-tokens 2048 --bf16 on --gradient-checkpointing off"""
PRETRAINED = {
    "webevolver": "--arms none imagined --dreams 4 --horizon 4 --proposer endpoint",
    "pae": "--no-images --observation text",
    "webrl": "--arms none self --observation text --steps 24",
}
"""A model without eyes reads texts where `pae` shows screenshots."""
_TEXTS = (
    '[12] link "Ticket"',
    "Action: click(12)",
    'Action: answer("done")',
    "http://fossil.test/",
)
PROGRAM = (sys.executable, "-m", "recipes.cli", "improve")
_SECONDS = 3600
"""Longest time that any part of one run may take."""


@dataclass(frozen=True, slots=True)
class PlayedPreset:
    """What became of a preset that was killed and resumed."""

    run: Path
    minutes: float
    killed_at: int
    """Episodes that had ended."""
    kept: bool
    """Whether each of them was as before at the end."""
    rows: list[LearningRow]


def play_preset(
    name: str, runs: Path, server: str, pretrained: Mapping[str, Path] = MappingProxyType({})
) -> PlayedPreset:
    """Run a preset, kill it once it has collected, resume it; `pretrained` has the places of
    `weights`, `served` and `shown`. Raises `CalledProcessError`."""
    run = runs / name.replace(", ", "-").replace(" ", "-")
    words = f"{SMALL} {PLAYED[name]}"
    if pretrained:
        words = f"--preset {name} {PRETRAINED_SMALL} {PRETRAINED[name]}".format(**pretrained)
    elif "{weights}" in words:
        words = words.format(weights=_make_weights(name, runs))
    settings = ["--runs", str(runs), "--name", run.name, *shlex.split(words)]
    environment = {**os.environ, "OPENAI_BASE_URL": server, "OPENAI_API_KEY": "none"}
    started, log = time.monotonic(), run.with_suffix(".log")
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [*PROGRAM, *settings], env=environment, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            _wait_for_a_collected_episode(process, run, log)
        finally:
            process.kill()
            process.wait()
        before = _read_actions(run)
        more = [*PROGRAM, "--resume", str(run)]
        subprocess.run(
            more,
            check=True,
            timeout=_SECONDS,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    after = _read_actions(run)
    summary = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    return PlayedPreset(
        run,
        (time.monotonic() - started) / 60,
        len(before),
        all(after.get(each) == actions for each, actions in before.items()),
        summary["learning"],
    )


def _make_weights(name: str, runs: Path) -> Path:
    folder = runs / f"weights-{name.split(',')[0]}"
    if folder.exists():
        return folder
    if name.startswith("pae"):  # it is shown screenshots
        return tiny_models.llava(folder)
    create_model(folder, _TEXTS, ModelShape(width=32, layers=1, heads=2, context=16_384))
    return folder


def _wait_for_a_collected_episode(process: "subprocess.Popen[bytes]", run: Path, log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{run.name} ended before it could be killed:\n{log.read_text()}")
        if (run / "run.sqlite").exists():
            with Store.look(run) as store:
                if any(store.entries("finished", phase="collect")):
                    return
        time.sleep(0.1)
    raise TimeoutError(f"{run.name} collected nothing in {_SECONDS} s:\n{log.read_text()}")


def _read_actions(run: Path) -> dict[str, list[str]]:
    with Store.look(run) as store:
        found = store.trajectories("finished")
        return {one.id: [repr(step.decision.action) for step in one.steps] for one in found}


def serve() -> ChatServer:
    """Return the models' server, listening in a thread."""
    server = ChatServer()
    server.will(play_roles())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main(argv: Sequence[str] | None = None) -> None:
    """Play them one after the other, and print what each round was made of."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=Path, default=Path("runs/presets"))
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--weights", type=Path, help="a folder of pretrained weights")
    parser.add_argument("--served", type=Path, help="with --weights: who judges and proposes")
    options = parser.parse_args(argv)
    # So that what was started ends with this: Python runs no `finally` for a plain SIGTERM.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    options.runs.mkdir(parents=True, exist_ok=True)
    pretrained = {}
    if options.weights:
        pretrained = {key: getattr(options, key).resolve() for key in ("weights", "served")}
        pretrained["shown"] = options.runs.resolve() / "shown"
        if not pretrained["shown"].exists():
            named = ["--runs", str(options.runs), "--name", "shown", *shlex.split(SHOWN)]
            subprocess.run([*PROGRAM, *named], check=True)
    server = serve()
    for name in options.only or (PRETRAINED if pretrained else PLAYED):
        played = play_preset(name, options.runs.resolve(), server.url, pretrained)
        print(
            f"{name}: {played.minutes:.1f} minutes, killed after {played.killed_at} episodes,"
            f" {'all' if played.kept else 'NOT ALL'} as before",
            flush=True,
        )
        for row in played.rows:
            print(f"  {format_learning(row)}", flush=True)


if __name__ == "__main__":
    main()

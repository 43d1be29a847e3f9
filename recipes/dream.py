"""`webagent dream`: imagined episodes from real pages of a run, by its world model."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from tyro.conf import Positional

from apps.predicted_site import PredictedSite, listen
from loop.arms import ARMS
from loop.console.output import CommandResult, Status
from loop.console.progress import show_jobs
from loop.costs import format_spending
from loop.dreams import imagine, measure_run
from loop.flat import Important
from loop.folder import RunFolder, read_origin
from loop.jobs import JobProgress
from loop.learners import ArmState
from loop.learners.builtin import BuiltinLearner
from loop.session import HEADLINE, Session
from loop.settings import ImproveConfig
from loop.stages import learn_world
from loop.worlds import WorldChoice, check_world
from recipes.settings import resolve
from tasks.suite import split_of
from tasks.task import Json
from webagent.errors import StoreError, UsageError
from webagent.models.builtin.model import BuiltinModel
from webagent.rollout import OpenWorld
from webagent.store import Store
from worldmodel.honesty import HONESTY, measure_honesty
from worldmodel.recall import RememberedWorld
from worldmodel.simulate import start_at
from worldmodel.transitions import transitions

LAYERS = ("model", "copying")
FIGURES = (
    *("exact", "exact_knowable", "invented", "changed_f1", "no_change", "page_kind", "ends"),
    *("brier", "brier_skill", "ece", "failure_called_success", "success_called_success"),
    *("failure_called_success_even", "success_called_success_even"),
)
NAME = "dream"
"""Arm under which imagined episodes and the weights trained for them are stored."""


@dataclass(frozen=True)
class DreamConfig:
    """Imagine episodes from real pages of a run, in the memory of its real steps.

    They start from the first pages of episodes whose task was not solved on that seed, and are
    stored in the run, marked as imagined.
    """

    run: Important[Positional[Path]] = Path()
    """The run folder. Default: the current folder."""
    count: Important[int] = 200
    """Maximum number of imagined episodes; 0 only measures the memory."""
    horizon: Important[int] = 5
    """Maximum number of steps per imagined episode."""
    weights: Path | None = None
    """Folder with `policy`, as saved by `webagent improve` in
    RUN/weights/ARM-REPEAT/ROUND. Default: train it now on the run's episodes."""
    policy_tokens: int = 300_000
    """Prompt and target tokens of the policy's training, on successes."""
    temperature: float = 1.2
    """Sampling temperature of the policy."""
    random_share: float = 0.1
    """Share of random actions, 0 to 1."""
    belief: float = 0.8
    """Minimum P(success) from the world model for an imagined episode to count as a success."""
    trusted: float = 0.9
    """Minimum precision of these predictions on held-out real episodes; below it, nothing is
    imagined."""
    serve: Important[bool] = False
    """Instead of imagining episodes, serve the site as memory predicts it to a browser on this
    machine, from the first page of an episode, until Ctrl-C."""
    start: str = ""
    """With --serve: id of that episode, or its first characters. Default: the run's first
    episode."""
    port: int = 7788
    """With --serve: port to listen on."""
    measure: Important[Path | None] = None
    """Instead of imagining episodes, evaluate memory and its baselines on the run's episodes on
    test seeds, after learning from all others, and write the figures into this JSON file as rows of
    benchmark, model, figure, value, low, high. Rows of other benchmarks are kept, and those of
    other models that were measured on the same steps."""
    benchmark: str = ""
    """Name of the benchmark in that file. Default: the name of the run folder."""
    world: Important[str] = "map"
    """With --measure: a model to evaluate in addition to memory, alone and behind it:
    `local:FOLDER`, weights of `webagent train --role world`;
    `endpoint`."""
    world_model: str = ""
    """With --world endpoint: name of the model."""
    world_endpoint: Path | None = None
    """With --world endpoint: file whose table [endpoint] describes its server."""
    world_samples: int = 1
    """With --measure and a language model: replies to each question; the share that agrees is the
    confidence."""
    world_examples: int | None = None
    """With --measure and a language model: number of similar real steps that it is shown. Default:
    3, and 0 for weights of `webagent train --role world`."""
    world_max_tokens: int = 0
    """With --measure and a language model: maximum tokens of a reply, thinking included. Default:
    twice what the page and the similar steps' changes take, at least 1,024."""
    at_once: int = 8
    """With --measure: predictions that are asked of a model at the same time."""
    split: Literal["test", "development"] = "test"
    """With --measure: seeds to evaluate on. For `development`, training seeds alone are learned."""
    most: int = 0
    """With --measure: maximum number of steps to evaluate on, in whole episodes drawn at random; 0
    for all."""
    seed: int = 0
    """Seed of the weights and of the imagined episodes."""

    def check(self) -> None:
        """Check the settings. Raises `UsageError`."""
        if self.count < 0 or self.horizon < 1 or self.at_once < 1:
            raise UsageError("--count must be 0 or more, --horizon and --at-once 1 or more")
        if not 0 <= self.trusted <= 1 or not 0 <= self.belief <= 1:
            raise UsageError("--trusted and --belief are shares between 0 and 1")

    @property
    def loop(self) -> ImproveConfig:
        """Return the same settings for the stages of the loop."""
        return ImproveConfig(
            dreams=self.count,
            horizon=self.horizon,
            memory="off",
            base_tokens=self.policy_tokens,
            temperature=self.temperature,
            random_share=self.random_share,
            belief=self.belief,
            trusted=self.trusted,
        )


@dataclass(frozen=True, slots=True)
class Dreamt:
    """What was imagined."""

    run: str
    """The run folder; the episodes are in it under the arm `dream` and the phase `imagine`."""
    weights: str
    """Folder of the policy that imagined them."""
    learnt_from: int
    """Real episodes with a verdict, on seeds that are not for measuring."""
    episodes: int
    """Imagined ones in the run, of this seed."""
    steps: int
    believed: int
    """Of these, how many the world model predicts to succeed."""
    precision: float
    """How often such beliefs were right on real episodes held back from the training."""
    checked: int
    """How many real beliefs that is a share of."""
    accuracy: dict[str, dict[str, float | None]] = field(default_factory=dict)
    """Figures of `worldmodel.Accuracy` on episodes held back: of memory (`model`) and of
    copying the page."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured, or shown."""

    run: str
    file: str
    """Where the rows are, or the address of the believed site."""
    rows: int
    """Rows, or the real steps that are believed."""


def main(argv: Sequence[str]) -> CommandResult:
    """Failed where the models' beliefs could not be trusted, so that nothing was imagined."""
    import torch

    config = resolve(DreamConfig, "dream", argv)
    config.check()
    if config.serve:
        return _served(config)
    if config.measure is not None:
        return _measured(config, config.measure, argv)
    torch.set_num_threads(1)  # so small a network gains nothing by more
    folder = RunFolder.open(config.run)
    with folder.store() as store, show_jobs(folder.path) as show:
        session = Session(
            config.loop,
            folder,
            store,
            _open_nothing,
            replace(ARMS["imagined"], name=NAME),
            config.seed,
            lambda stage, done, note: show(JobProgress(NAME, stage, done, note)),
        )
        state = _state(config, session)
        place = session.folder.weights(NAME, config.seed, 0, "policy").parent
        if config.weights is not None:
            given = BuiltinModel.load(config.weights / "policy")
            session.folder.save(given, NAME, config.seed, 0, "policy")
        learn_world(session, state)
        asyncio.run(_imagine(session, state))
        found = _counted(config, session, state, place)
    _tell(found, config)
    wanted = config.count and not found.episodes
    return CommandResult(
        found, (Status.FAILED if wanted or found.precision < config.trusted else Status.DONE)
    )


def _open_nothing(*given: object) -> OpenWorld:
    raise RuntimeError("an imagined session has no real page")


def _served(config: DreamConfig) -> CommandResult:
    """Serve the believed site until Ctrl-C. Raises `UsageError` for an episode that is not there
    and a port that is taken."""
    with Store.look(config.run) as store:
        real = [each for each in store.trajectories() if not each.provenance.imagined]
    memory = RememberedWorld()
    memory.learn(transitions(real, dict.fromkeys((each.id for each in real), 0.0)))
    first = next((e for e in real if e.steps and e.id.startswith(config.start)), None)
    if first is None:
        raise UsageError(f"{config.run} has no episode with steps whose id begins {config.start!r}")
    site = PredictedSite(memory, start_at(first), memory.page_at)
    try:
        server = listen(site, config.port)
    except OSError as error:
        raise UsageError(f"port {config.port} cannot be used: {error}; name another") from error
    address = f"http://127.0.0.1:{server.server_port}/"
    print(f"{address} believes {len(memory.cases):,} real steps (Ctrl-C ends it)", flush=True)
    with server, suppress(KeyboardInterrupt):
        server.serve_forever()
    return CommandResult(Measured(str(config.run), address, len(memory.cases)))


def _measured(config: DreamConfig, file: Path, argv: Sequence[str]) -> CommandResult:
    """Figures of memory on test seeds, printed and put into the file."""
    name = config.benchmark or config.run.name
    choice = WorldChoice(
        config.world,
        config.world_model,
        config.world_endpoint,
        config.run,
        config.world_samples,
        config.world_examples,
        config.world_max_tokens,
    )
    check_world(choice)
    facts, rows, ledger = measure_run(
        config.run, name, choice, config.split, config.most, config.at_once
    )
    facts |= {"command": f"webagent dream {' '.join(argv)}", "commit": read_origin()["commit"]}
    spent = [
        f"{one.requests:,} requests, {one.input_tokens:,} tokens read and {one.output_tokens:,}"
        f" written, {one.failed:,} without a reply"
        for one in ledger.entries.values()
    ]
    if spent:
        facts["spent"] = f"{choice.name}: {'; '.join(spent)}"
    honesty = measure_honesty()
    told = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    file.write_text(json.dumps(_join(told, facts, rows, honesty), indent=1), encoding="utf-8")
    print(f"{name}: {facts['transitions']} steps of {facts['episodes']} episodes on {config.split}")
    print(f"seeds, after {facts['learnt_from']} others")
    for sentence in filter(None, (facts.get("spent"), format_spending(ledger))):
        print(sentence)
    _print_rows(rows)
    print("\nhonest predictions on made-up sites that do not do what they show")
    _print_rows(honesty)
    return CommandResult(Measured(str(config.run), str(file), len(rows)))


_SAME = ("benchmark", "split", "learnt_from", "transitions", "episodes", "failed")
"""Facts that two measurements share if they can stand in one table."""


def _join(
    told: dict[str, list[dict[str, Json]]],
    facts: dict[str, Json],
    rows: Sequence[dict[str, Json]],
    honesty: Sequence[dict[str, Json]],
) -> dict[str, list[dict[str, Json]]]:
    """Return a file's contents with a measurement in place of the earlier one of its benchmark.
    Rows of models that it did not measure are kept where they are of the same steps."""
    name, models = facts["benchmark"], {row["model"] for row in rows}
    earlier = [run for run in told.get("runs", ()) if run["benchmark"] == name]
    kept = [run for run in earlier if all(run.get(key) == facts.get(key) for key in _SAME)]
    runs = [run for run in told.get("runs", ()) if run["benchmark"] not in (name, HONESTY)]
    others = [
        row
        for row in told.get("rows", ())
        if row["benchmark"] not in (name, HONESTY)
        or (kept and row["benchmark"] == name and row["model"] not in models)
    ]
    if kept:
        commands = [str(facts["command"]), *str(kept[0]["command"]).split("; ")]
        facts = {**facts, "command": "; ".join(dict.fromkeys(commands))}
        spent = [str(run["spent"]) for run in (facts, *kept) if run.get("spent")]
        if spent:
            facts["spent"] = "; ".join(dict.fromkeys(spent))
    return {"runs": [*runs, facts], "rows": [*others, *rows, *honesty]}


def _print_rows(rows: Sequence[dict[str, Json]]) -> None:
    """A line for each figure, a column for each model."""
    models = list(dict.fromkeys(str(row["model"]) for row in rows))
    width = max(20, *(len(name) + 2 for name in models))
    print(f"{'':24}" + "".join(f"{name:>{width}}" for name in models))
    for figure in dict.fromkeys(str(row["figure"]) for row in rows):
        values = [row["value"] for row in rows if row["figure"] == figure]
        cells = "".join(f"{'-' if v is None else format(v, '.3f'):>{width}}" for v in values)
        print(f"{figure.replace('_', ' '):24}{cells}")


async def _imagine(session: Session, state: ArmState) -> None:
    await state.learner.learn(state, NAME, 0)
    await imagine(session, state, 0)


def _state(config: DreamConfig, session: Session) -> ArmState:
    """What the run has experienced, with the frozen judge's verdicts. Raises `StoreError`."""
    values = {
        episode: score.value
        for episode, scores in session.store.scores().items()
        for score in scores
        if (score.name, score.evaluator) == ("success", HEADLINE.id)
    }
    state = ArmState(BuiltinLearner(session), success=values)
    state.experience = [
        episode
        for episode in session.store.trajectories()
        if not episode.provenance.imagined
        and values.get(episode.id) is not None
        and split_of(episode.task.seed) != "test"
    ]
    if not state.experience:
        raise StoreError(
            f"{config.run} holds no real episode with a verdict on a seed that is not for"
            " measuring; collect some first: webagent collect --random-share 0.3"
        )
    return state


def _counted(config: DreamConfig, session: Session, state: ArmState, weights: Path) -> Dreamt:
    entries = session.store.entries(arm=NAME, phase="imagine", repeat=config.seed)
    figures = session.store.get_state(f"world:{NAME}:{config.seed}:0")
    known = figures if isinstance(figures, dict) else {}
    precision, checked = known.get("precision"), known.get("believed")
    return Dreamt(
        run=str(config.run),
        weights=str(weights),
        learnt_from=len(state.experience),
        episodes=len(entries),
        steps=sum(entry.steps for entry in entries),
        believed=len(state.dreams),
        precision=float(precision) if isinstance(precision, float | int) else 0.0,
        checked=int(checked) if isinstance(checked, int) else 0,
        accuracy={name: _figures(known[name]) for name in LAYERS if name in known},
    )


def _figures(stored: Json) -> dict[str, float | None]:
    """The figures of one model, as they were stored."""
    told = stored if isinstance(stored, dict) else {}
    return {
        name: value
        for name in FIGURES
        if not isinstance(value := told.get(name), str | list | dict)
    }


def _tell(found: Dreamt, config: DreamConfig) -> None:
    print(f"models of {found.learnt_from:,} real episodes: {found.weights}")
    print(
        f"of {found.checked} beliefs in success on episodes held back"
        f" {found.precision:.0%} were right"
    )
    _print_accuracy(found.accuracy)
    if found.precision < config.trusted:
        print(
            f"that is less than --trusted {config.trusted:g}: nothing is imagined; collect more"
            " episodes, successes and failures, or lower it"
        )
        return
    print(
        f"{found.episodes:,} imagined episodes of {found.steps:,} steps, {found.believed:,}"
        " believed to succeed\ntake them along:"
        f" webagent export {found.run} --imagined --out FOLDER"
    )


def _print_accuracy(accuracy: dict[str, dict[str, float | None]]) -> None:
    names = [name for name in LAYERS if name in accuracy]
    if not names:
        return
    print(f"{'on episodes held back':24}" + "".join(f"{name:>12}" for name in names))
    for figure in FIGURES:
        values = [accuracy[name].get(figure) for name in names]
        told = "".join(f"{'-' if v is None else format(v, '.3f'):>12}" for v in values)
        print(f"{figure.replace('_', ' '):24}{told}")

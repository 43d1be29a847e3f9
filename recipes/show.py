"""`webagent show`: list a run's episodes, or print one step by step with the model's requests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from apps.view.contents import Contents, read_contents
from evaluators.attribution import attribute, has_failed
from loop.console.output import CommandResult
from loop.console.screen import build_table, results_console
from recipes.settings import resolve
from webagent.action import format_action
from webagent.errors import UsageError
from webagent.exchange import Exchange, format_exchange
from webagent.models.prompt import shorten
from webagent.policy.finding import describe_element
from webagent.records import Trajectory
from webagent.store import Store

_MOST_LISTED = 20
_WIDEST = 100
"""Characters of a cell."""


@dataclass(frozen=True)
class ShowConfig:
    """List a run's episodes with their verdicts, or print one: its steps, prompts and replies."""

    run: Positional[Path] = Path()
    """The run folder. Default: the current folder."""
    episode: Positional[str] = ""
    """Id of an episode, or its first characters. Default: the only one, or a list of all."""
    failed: bool = False
    """List the failed episodes with the causes."""
    step: int = 0
    """Number of a single step to print in full, from 1; 0 for all in short form. The number after
    the last step shows requests that produced no step: invalid replies, a failed server."""
    full: bool = False
    """Print every step in full."""
    raw: bool = False
    """Add the server's raw responses."""


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step, or the requests after the last one."""

    step: int
    url: str
    thought: str
    action: str
    """The action; empty if there is none."""
    element: str
    """The element it is on, with its role and name; empty if it is on none."""
    outcome: str
    """Why the action failed; empty if it took effect."""
    exchanges: list[dict[str, Any]]
    """Exchanges with models: `messages`, `replies`, `attempts`, `usage`, `seconds`, `error`, …"""


@dataclass(frozen=True, slots=True)
class Shown:
    """An episode."""

    episode: str
    task: str
    seed: int
    goal: str
    ending: str
    error: str
    verdict: str
    """`succeeded`, `failed`, `unscored`, `broken` or `running`, by the judge of the run."""
    reason: str
    """Why the judge says so."""
    cause: str
    """What the failure is put down to; empty for a success."""
    steps: list[ShownStep]


@dataclass(frozen=True, slots=True)
class Listed:
    """The episodes of a run."""

    episodes: list[dict[str, Any]]
    """`episode`, `task`, `seed`, `verdict`, `steps`, `ending`; `cause` with `--failed`."""


def main(argv: Sequence[str]) -> CommandResult:
    """Print the episode or the list. Raises `UsageError` if none or several match."""
    config = resolve(ShowConfig, "show", argv)
    with Store.look(config.run) as store:
        contents = read_contents(store, "")
        if config.failed or (not config.episode and len(contents.lines) > 1):
            if config.step:
                raise UsageError(
                    "--step needs the id of an episode; `webagent show RUN` lists them"
                )
            return _list_episodes(store, contents, config)
        trajectory = store.find(config.episode)
        exchanges = store.exchanges(trajectory.id)
        cause = _find_cause(store, trajectory, contents.judge)
    line = contents.by_id[trajectory.id]
    ending = str(trajectory.ending or "under way")
    print(f"{trajectory.id}  {line.task}, seed {trajectory.task.seed}\n{trajectory.goal}")
    steps = []
    for step in _steps(trajectory, exchanges):
        if config.step in (0, step.step):
            steps.append(step)
            _print_step(step, exchanges.get(step.step - 1, ()), config)
    if config.step and not steps:
        raise UsageError(f"--step {config.step}: the episode has {len(trajectory.steps)} steps")
    print(f"\n{ending}{': ' if trajectory.error else ''}{trajectory.error}")
    print(f"{line.outcome}{': ' if line.reason else ''}{line.reason}")
    if cause:
        print(f"cause: {cause}")
    if not exchanges:
        print("This run stored no requests to a model.")
    facts = (trajectory.goal, ending, trajectory.error, str(line.outcome), line.reason, cause)
    seed = trajectory.task.seed
    return CommandResult(Shown(trajectory.id, trajectory.task.id, seed, *facts, steps))


def _list_episodes(store: Store, contents: Contents, config: ShowConfig) -> CommandResult:
    """Print the episodes, the last of the plan first, in a table of limited length."""
    failed = set(contents.failed)
    lines = [one for one in contents.lines if not config.failed or one.entry.id in failed][::-1]
    shown, more = lines[:_MOST_LISTED], len(lines) - _MOST_LISTED
    causes = {}
    if config.failed:
        for line in shown:
            if trajectory := store.load(line.entry.id):
                causes[line.entry.id] = _find_cause(store, trajectory, contents.judge)
    last = "cause" if config.failed else "ending"
    rows = [
        {
            "episode": line.entry.id,
            "task": line.task,
            "seed": line.entry.seed,
            "verdict": str(line.outcome),
            "steps": line.entry.steps,
            "ending": str(line.entry.ending or "under way"),
            **({"cause": causes.get(line.entry.id, "")} if config.failed else {}),
        }
        for line in lines
    ]
    head = ("episode", "verdict", "task", "seed", "steps", last)
    cells = [[shorten(str(row[name]), _WIDEST) for name in head] for row in rows[:_MOST_LISTED]]
    title = f"{len(lines):,} {'failed ' if config.failed else ''}episodes of {config.run}"
    results_console().print(build_table(title, head, cells, right=("seed", "steps")))
    if more > 0:
        hint = "" if config.failed else "; --failed lists the failures with their causes"
        print(f"and {more:,} more, with filters in webagent view {config.run}{hint}")
    return CommandResult(Listed(rows))


def _find_cause(store: Store, trajectory: Trajectory, judge: str) -> str:
    """Return what the episode's failure is put down to; empty where it has not failed."""
    given = store.scores("any", id=trajectory.id).get(trajectory.id, ())
    if not has_failed(trajectory, given, judge):
        return ""
    found = attribute(trajectory, given, trusted=judge)
    where = "" if found.step is None else f" at step {found.step + 1}"
    kind = f", {found.kind}" if found.kind else ""
    return f"{found.cause}{kind}{where}: {'; '.join((found.reason, *found.evidence))}"


def _steps(
    trajectory: Trajectory, exchanges: Mapping[int, tuple[Exchange, ...]]
) -> Iterator[ShownStep]:
    """Yield the steps, and the requests after the last one."""
    for position in range(max(len(trajectory.steps), *(n + 1 for n in exchanges), 0)):
        requests = [asdict(each) for each in exchanges.get(position, ())]
        if position >= len(trajectory.steps):
            url = trajectory.last.url if trajectory.last else ""
            yield ShownStep(position + 1, url, "", "", "", "", requests)
            continue
        step, after = trajectory.steps[position], trajectory.page_after(position)
        node = step.observation.node(getattr(step.decision.action, "mark", 0))
        yield ShownStep(
            position + 1,
            step.observation.url,
            step.decision.thought,
            format_action(step.decision.action),
            describe_element(node) if node else "",
            after.outcome if after else "",
            requests,
        )


def _print_step(step: ShownStep, exchanges: Sequence[Exchange], config: ShowConfig) -> None:
    """Print a step in full, or its action and problems in short form."""
    print(f"\n{step.step}  {step.url}")
    if step.thought:
        print(f"   {shorten(step.thought)}")
    on = f" on {step.element}" if step.element else ""
    print(f"   {step.action or 'no action'}{on}{f' → {step.outcome}' if step.outcome else ''}")
    for exchange in exchanges:
        if config.step or config.full or config.raw:
            print(format_exchange(exchange, raw=config.raw))
            continue
        tokens = exchange.usage.get("input_tokens", 0), exchange.usage.get("output_tokens", 0)
        print(
            f"   {exchange.role} {exchange.model}: {tokens[0]:,} tokens read, {tokens[1]:,} written"
        )
        for attempt in exchange.attempts:
            if attempt.problem:
                print(f"     {shorten(attempt.problem)}; waited {attempt.waited:.1f} s")
        if not step.action:
            print(f"     {shorten(exchange.error or exchange.replies[0].text)}")

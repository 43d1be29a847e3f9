"""`webagent show`: print an episode step by step, with the model's requests and replies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from loop.console.output import CommandResult
from recipes.settings import resolve
from webagent.action import format_action
from webagent.errors import UsageError
from webagent.exchange import Exchange, format_exchange
from webagent.models.prompt import shorten
from webagent.records import Trajectory
from webagent.store import Store


@dataclass(frozen=True)
class ShowConfig:
    """Print an episode: every step, with the model's prompts, replies and retries."""

    run: Positional[Path] = Path()
    """The run folder. Default: the current folder."""
    episode: Positional[str] = ""
    """Id of an episode, or its first characters; optional if the run has only one."""
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
    outcome: str
    """Why the action failed; empty if it took effect."""
    exchanges: list[dict[str, Any]]
    """Exchanges with models: `messages`, `replies`, `attempts`, `usage`, `seconds`, `error` and so
    on."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An episode."""

    episode: str
    goal: str
    ending: str
    error: str
    steps: list[ShownStep]


def main(argv: Sequence[str]) -> CommandResult:
    """Print the episode. Raises `UsageError` if none or several match."""
    config = resolve(ShowConfig, "show", argv)
    with Store.look(config.run) as store:
        trajectory = find_episode(store, config.episode)
        exchanges = store.exchanges(trajectory.id)
    ending = str(trajectory.ending or "under way")
    print(f"{trajectory.id}  {trajectory.goal}")
    steps = []
    for step in _steps(trajectory, exchanges):
        if config.step in (0, step.step):
            steps.append(step)
            _print_step(step, exchanges.get(step.step - 1, ()), config)
    if config.step and not steps:
        raise UsageError(f"--step {config.step}: the episode has {len(trajectory.steps)} steps")
    print(f"{ending}{': ' if trajectory.error else ''}{trajectory.error}")
    if not exchanges:
        print("This run stored no requests to a model.")
    return CommandResult(Shown(trajectory.id, trajectory.goal, ending, trajectory.error, steps))


def find_episode(store: Store, start: str) -> Trajectory:
    """Return the episode whose id begins with `start`. Raises `UsageError` if none or several
    do."""
    found = [each for each in store.ids("any") if each.startswith(start)]
    if len(found) != 1 or (episode := store.load(found[0])) is None:
        raise UsageError(
            f"{len(found)} episodes of {store.folder} have an id that begins with {start!r};"
            " expected one. webagent view lists them"
        )
    return episode


def _steps(
    trajectory: Trajectory, exchanges: Mapping[int, tuple[Exchange, ...]]
) -> Iterator[ShownStep]:
    """Yield the steps, and the requests after the last one."""
    for position in range(max(len(trajectory.steps), *(n + 1 for n in exchanges), 0)):
        requests = [asdict(each) for each in exchanges.get(position, ())]
        if position >= len(trajectory.steps):
            url = trajectory.last.url if trajectory.last else ""
            yield ShownStep(position + 1, url, "", "", "", requests)
            continue
        step, after = trajectory.steps[position], trajectory.page_after(position)
        yield ShownStep(
            position + 1,
            step.observation.url,
            step.decision.thought,
            format_action(step.decision.action),
            after.outcome if after else "",
            requests,
        )


def _print_step(step: ShownStep, exchanges: Sequence[Exchange], config: ShowConfig) -> None:
    """Print a step in full, or its action and problems in short form."""
    print(f"\n{step.step}  {step.url}")
    if step.thought:
        print(f"   {shorten(step.thought)}")
    print(f"   {step.action or 'no action'}{f' → {step.outcome}' if step.outcome else ''}")
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

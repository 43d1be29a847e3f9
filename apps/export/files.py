"""The files of an export: streamed from the store into a draft that is then put in its place."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from apps.export.card import write_card
from apps.export.consumer import Consumer
from apps.export.draft import whole_folder
from apps.export.examples import (
    Example,
    Source,
    most_imagined,
    to_imitate,
    to_prefer,
    to_tell_apart,
    to_try,
)
from apps.export.request import Request
from apps.export.selection import Selection
from apps.export.steps import EPISODE, STEP, episode_row, step_row
from apps.export.table import Table, schema_of
from apps.export.tally import Tally
from apps.export.tools import tools_text
from apps.export.turns import Asker, pictures
from loop.console.progress import count_items
from loop.costs import RunPrices
from webagent.agent.asking import Asking
from webagent.errors import SetupError
from webagent.store import Store


async def write(request: Request, store: Store, selection: Selection) -> tuple[Tally, Counter[str]]:
    """Write it whole or not at all; what it holds, and what was left out for which reason.

    Raises `SetupError` when nothing is left to write, `StoreError` when the folder is taken, the
    run is damaged or the disk fails.
    """
    config = request.config
    asking = replace(Asking.of(store), observation=config.observation)
    asker = Asker(asking, store.images if config.images else None, request.played_as)
    chosen = len(selection.real) + len(selection.imagined)
    tally = Tally()
    with whole_folder(request.out) as draft, count_items("episodes read", chosen) as step:
        source = Source(store, asker, Counter(), step)
        if request.consumer is None:
            await _write_tables(request, source, selection, draft, tally)
        else:
            await _write_examples(request, request.consumer, source, selection, draft, tally)
        if not tally.rows:
            raise SetupError(_nothing(request, selection, source.counts))
        tally.write(draft, _info(request, selection, source))
    return tally, source.counts


async def _write_tables(
    request: Request, source: Source, selection: Selection, draft: Path, tally: Tally
) -> None:
    """One row a step and one an episode, imagined ones last and only up to their share."""
    tools, till = tools_text(), RunPrices.of(source.store)
    share = request.config.imagined_share
    with (
        Table(draft / "steps", schema_of(STEP)) as steps,
        Table(draft / "episodes", schema_of(EPISODE)) as episodes,
    ):
        for chosen in (*selection.real, *selection.imagined):
            trajectory = source.load(chosen)
            most = most_imagined(tally.rows - tally.imagined, share)
            if chosen.imagined and tally.imagined + len(trajectory.steps) > most:
                source.counts["imagined episodes above the cap"] += 1
                continue
            episodes.add(episode_row(chosen, trajectory, tools, till))
            for turn in source.asker.turns(trajectory):
                source.takes(turn)
                steps.add(step_row(chosen, trajectory, turn, till))
                decision = turn.step.decision
                sizes = {"prompt_ids": len(decision.prompt_ids), "seconds": decision.seconds}
                counted = {f"usage.{name}": value for name, value in decision.usage.items()}
                tally.add(trajectory.task, imagined=chosen.imagined, **sizes, **counted)
    tables = {"steps": "steps/*.parquet", "episodes": "episodes/*.parquet"}
    write_card(draft, tables, "A webagent run, step by step")


async def _write_examples(
    request: Request,
    consumer: Consumer,
    source: Source,
    selection: Selection,
    draft: Path,
    tally: Tally,
) -> None:
    what, is_pictured = request.what, request.config.images
    form = consumer.forms[what]
    columns = form.columns(is_pictured)
    with Table(draft / consumer.data(what), schema_of(columns)) as table:
        async for example in _examples(request, source, selection):
            row = dict(form.row(replace(example, number=tally.rows), is_pictured))
            if "images" in columns:
                row["images"] = pictures(example.messages)
            table.add(row)
            sizes = {
                "prompt characters": sum(len(message.text) for message in example.messages),
                "reply characters": len(example.reply),
            }
            tally.add(example.task, imagined=example.imagined, **sizes)
    consumer.finish(draft, what, is_pictured)


def _examples(request: Request, source: Source, selection: Selection) -> AsyncIterator[Example]:
    match request.what:
        case "sft":
            return to_imitate(source, selection, request.config.imagined_share)
        case "preference":
            return to_prefer(source, selection)
        case "kto":
            return to_tell_apart(source, selection)
        case _:
            return to_try(source, selection)


def _info(request: Request, selection: Selection, source: Source) -> dict[str, Any]:
    config = request.config
    return {
        "run": request.run.resolve().name,
        **request.origin,
        "to": request.to,
        "what": request.what,
        "phases": list(config.phases) or "all",
        "arms": list(config.arms) or "all",
        "judge": config.judge,
        "observation": config.observation,
        "images": config.images,
        "episodes": len(selection.real) + len(selection.imagined),
        "left_out_episodes": dict(sorted(selection.left_out.items())),
        "counts": dict(sorted(source.counts.items())),
    }


def _nothing(request: Request, selection: Selection, counts: Counter[str]) -> str:
    """Why there is nothing to write, and what to do about it."""
    reasons = [f"{count:,} episodes {reason}" for reason, count in selection.left_out.items()]
    reasons += [f"{count:,} {reason}" for reason, count in counts.items()]
    found = f"left out: {', '.join(reasons)}" if reasons else "no episode was chosen"
    hint = ""
    if selection.left_out["of phase evaluate"]:
        hint = (
            "; measurements are on seeds that no training should see: if that is what you want,"
            " add --phases evaluate"
        )
    return f"nothing to export from {request.run} as {request.what} ({found}){hint}"


def told(tally: Tally, counts: Counter[str], left_out: Counter[str]) -> Sequence[str]:
    """What was written and what was not, in lines."""
    dreamt = f", {tally.imagined:,} of them imagined" if tally.imagined else ""
    lines = [f"rows: {tally.rows:,}{dreamt}"]
    lines += [f"{reason}: {count:,}" for reason, count in sorted(counts.items())]
    return lines + [f"episodes {reason}: {count:,}" for reason, count in sorted(left_out.items())]

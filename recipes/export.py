"""`webagent export`: a run's episodes as files that other people's trainers read."""

from collections.abc import Sequence
from dataclasses import dataclass

from apps.export.examples import select
from apps.export.files import format_result, refuse_existing, write
from apps.export.push import push
from apps.export.request import ExportConfig, complete_request
from loop.console.output import CommandResult
from recipes.settings import resolve
from webagent.store import Store, Where


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: str
    to: str
    """Who reads it."""
    what: str
    """The kind of example."""
    rows: int
    imagined: int
    """How many of the rows are imagined."""
    counts: dict[str, int]
    """What was left out row by row, or done to rows, by reason."""
    left_out: dict[str, int]
    """Whole episodes that were left out, by reason."""
    pushed: str = ""
    """Address of the data set on a hub; empty where it was not sent to one."""


def main(argv: Sequence[str]) -> CommandResult:
    """Write the export and say what is in it."""
    request = complete_request(resolve(ExportConfig, "export", argv))
    config = request.config
    refuse_existing(request.out)
    with Store.open(request.run) as store:
        where: Where = {"arm": config.arms} if config.arms else {}
        selection = select(store, config.judge, where, config.phases, imagined=config.imagined)
        tally, counts = write(request, store, selection)
    print("\n".join(format_result(tally, counts, selection.left_out)))
    print(f"written for {request.to}, as {request.what}: {request.out}")
    pushed = ""
    if config.push:
        pushed = push(request.out, config.push, is_public=config.public)
        print(f"pushed: {pushed}")
    written = (str(request.out), request.to, request.what, tally.rows, tally.imagined)
    return CommandResult(Exported(*written, dict(counts), dict(selection.left_out), pushed))

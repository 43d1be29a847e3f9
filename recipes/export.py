"""`webagent export`: a run's episodes as files that other people's trainers read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from apps.export.examples import select
from apps.export.files import format_result, push, refuse_existing, write
from apps.export.request import ExportConfig, complete_request
from loop.console.output import CommandResult
from loop.notes import choose_judge, read_judge_id
from recipes.settings import resolve
from webagent.store import Store, Where


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    folder: str
    to: str
    """The format."""
    what: str
    """The kind of examples."""
    rows: int
    imagined: int
    """Number of imagined rows."""
    counts: dict[str, int]
    """Rows left out or changed, by reason."""
    left_out: dict[str, int]
    """Episodes left out, by reason."""
    pushed: str = ""
    """URL of the uploaded dataset; empty if nothing was uploaded."""


def main(argv: Sequence[str]) -> CommandResult:
    """Write the export and print what it contains."""
    request = complete_request(resolve(ExportConfig, "export", argv))
    refuse_existing(request.out)
    with Store.open(request.run) as store:
        where: Where = {"arm": request.config.arms} if request.config.arms else {}
        judge = request.config.judge or choose_judge(read_judge_id(store), store.scores("any"))
        request = replace(request, config=replace(request.config, judge=judge))
        config = request.config
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

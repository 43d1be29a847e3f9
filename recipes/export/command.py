"""`webagent export`: a run's episodes as files that other people's trainers read."""

import asyncio
from collections.abc import Sequence

from recipes.config import resolve
from recipes.export.draft import refuse_existing
from recipes.export.files import told, write
from recipes.export.request import ExportConfig, complete
from recipes.export.selection import select
from webagent.store import Store, Where


def main(argv: Sequence[str]) -> int:
    """Write the export and say what is in it."""
    request = complete(resolve(ExportConfig, "export", argv))
    config = request.config
    refuse_existing(request.out)
    with Store.open(request.run) as store:
        where: Where = {"arm": config.arms} if config.arms else {}
        selection = select(store, config.judge, where, config.phases, imagined=config.imagined)
        tally, counts = asyncio.run(write(request, store, selection))
    print("\n".join(told(tally, counts, selection.left_out)))
    print(f"written for {request.to}, as {request.what}: {request.out}")
    return 0

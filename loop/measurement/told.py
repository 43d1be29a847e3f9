"""What programs are told of a measurement, or of one that is only looked at beforehand."""

from typing import NotRequired

from loop.summary.shape import RunSummary


class Measured(RunSummary):
    """The summary of the run, or with `--preview` only what stands under `preview`."""

    preview: NotRequired[dict[str, object]]
    """What would be played and what it would take."""

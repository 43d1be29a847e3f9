"""Labels that a person gives an episode: read from a form, kept with the run's other labels."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluators.labels import FILE, Label, add_label, read_labels
from webagent.errors import SetupError
from webagent.records import Trajectory

VALUES: Mapping[str, float | None] = {"success": 1.0, "failure": 0.0, "unsure": None}
_LONGEST_NOTE = 4000
_LONGEST_NAME = 80
TOKEN = secrets.token_urlsafe(24)
"""Known to the pages of this server alone, so that no other page can label in a person's name."""


@dataclass(frozen=True, slots=True)
class Given:
    """The labels of one episode."""

    labels: tuple[Label, ...] = ()
    """The latest of each annotator."""
    trouble: str = ""
    """Why there may be more that cannot be read; empty where all is well."""

    def by(self, annotator: str) -> Label | None:
        """What this person said."""
        return next((label for label in self.labels if label.annotator == annotator), None)


def given(run: Path, episode: str) -> Given:
    """The labels that a run folder holds of an episode."""
    try:
        return Given(tuple(label for label in all_given(run) if label.episode == episode))
    except SetupError as error:
        return Given(trouble=str(error))


def all_given(run: Path) -> tuple[Label, ...]:
    """All success labels of a run. Raises `SetupError` for a file that cannot be read."""
    if not (run / FILE).is_file():
        return ()
    return tuple(label for label in read_labels(run) if label.score == "success")


def label_from(form: Mapping[str, object], trajectory: Trajectory) -> Label:
    """The label that a form holds. Raises `SetupError` saying what is missing or not right."""
    if not secrets.compare_digest(str(form.get("token", "")).encode(), TOKEN.encode()):
        raise SetupError(
            "the label did not come from a page of this viewer, or the viewer was started anew"
            " since; open the episode again and label it there"
        )
    said = str(form.get("value", ""))
    if said not in VALUES:
        raise SetupError(f"found the label {said!r}; expected {', '.join(VALUES)}")
    annotator = " ".join(str(form.get("annotator", "")).split())
    if not annotator or len(annotator) > _LONGEST_NAME:
        raise SetupError(f"say who labels, in up to {_LONGEST_NAME} letters")
    note = str(form.get("note", "")).strip()
    if len(note) > _LONGEST_NOTE:
        raise SetupError(f"the note has {len(note):,} letters; up to {_LONGEST_NOTE:,} are kept")
    task = trajectory.task.id
    return Label(
        trajectory.id,
        VALUES[said],
        annotator=annotator,
        note=note,
        benchmark=task.rpartition("/")[0],
        agent=trajectory.provenance.arm,
        task=task,
        first_error=_step(str(form.get("first_error", "")), len(trajectory.steps)),
    )


def keep(run: Path, label: Label) -> Label:
    """Add it to the run's labels; an earlier one of the same person no longer counts."""
    return add_label(run, label)


def _step(text: str, steps: int) -> int | None:
    """The index of the step that the form names by its number."""
    if not text.strip():
        return None
    if not text.strip().isdecimal() or not 1 <= int(text) <= steps:
        raise SetupError(f"the first wrong step is {text!r}; expected a number from 1 to {steps}")
    return int(text) - 1

"""The student of a run: its settings, and where it is stored."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from webagent.errors import SetupError, UsageError
from webagent.store import Store

if TYPE_CHECKING:  # numpy is not loaded for settings
    from webagent.policy.student import Student

BUILTIN = "builtin"
STUDENT_STATE = "student"
"""Key under which a run's store keeps its student's confidence threshold."""


@dataclass(frozen=True)
class StudentChoice:
    """A small model in front of a large one."""

    student: str = ""
    """Small model in front of the policy, which acts where it is confident and learns from every
    reply of the large model: `builtin` to start empty, or the folder of a stored one
    (docs/howto/student.md)."""
    student_confidence: float = 0.8
    """Confidence threshold, 0 to 1, from which the student acts."""

    def check(self, policy: str, *, is_kept: bool = False) -> None:
        """Check the choice; `is_kept` allows a folder that does not exist yet, and a student that
        has learned nothing. Raises `SetupError`, and `StoreError` for a broken folder."""
        if not self.student:
            return
        if policy.partition(":")[0] in ("builtin", "model"):
            raise UsageError(
                f"--student {self.student} goes in front of a large model, and --policy {policy} is"
                " the built-in one itself; name another policy, or leave --student out"
            )
        if not 0 < self.student_confidence <= 1:
            raise UsageError(
                f"--student-confidence {self.student_confidence:g} lies above 0 and at most at 1"
            )
        if self.student == BUILTIN or (is_kept and not Path(self.student).exists()):
            return
        if not len(self.open().memory) and not is_kept:
            raise SetupError(
                f"--student {self.student}: it has learnt from no episode yet and would never act;"
                " let it learn first, with webagent collect --student builtin"
            )

    def open(self) -> "Student":
        """Return the student. Raises `SetupError` or `StoreError`."""
        from webagent.policy.student import Student

        if self.student == BUILTIN:
            return Student(sure=self.student_confidence)
        return Student.load(Path(self.student), self.student_confidence)


def note_student(store: Store, student: "Student") -> None:
    """Record in a run's store that it has a student, so that its summary reports it."""
    store.put_state(STUDENT_STATE, {"sure": student.sure})

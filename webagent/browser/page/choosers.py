"""The files that a page asks for, by a file chooser that is never shown."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Chooser:
    """A request for files that waits for its answer."""

    field: int
    """The browser's number of the file field."""
    takes: str
    """`one` or `several`."""

    @classmethod
    def of(cls, event: dict[str, Any]) -> "Chooser | None":
        """Read from `Page.fileChooserOpened`; None for a chooser without a field behind it."""
        field = event.get("backendNodeId")
        takes = "several" if event["mode"] == "selectMultiple" else "one"
        return cls(field, takes) if field else None

    def said(self) -> str:
        """How the agent is told."""
        several = "files" if self.takes == "several" else "a file"
        return f"the page asks for {several}; give {several} with upload_file(0, path)"

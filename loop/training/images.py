"""Screenshots, found in whichever run they were taken."""

from collections.abc import Sequence
from pathlib import Path

from webagent.store import ImageFolder


class Images:
    """The screenshots of several runs, each looked for wherever it may lie."""

    def __init__(self, runs: Sequence[Path]) -> None:
        self._folders = [ImageFolder(run / "images") for run in runs]

    def get(self, reference: str) -> bytes:
        """An image by its reference. Raises `StoreError` where no run has it."""
        for folder in self._folders[:-1]:
            if folder.path(reference).is_file():
                return folder.get(reference)
        return self._folders[-1].get(reference)

    def add(self, image: bytes) -> str:
        """Keep a picture that was drawn for a prompt, in the last run's folder."""
        return self._folders[-1].add(image)

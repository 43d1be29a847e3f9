"""The learner of a model whose weights cannot be trained: it writes a memory of sites."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from loop.learners.state import ArmState, Purpose
from loop.measurement.settings import contestant
from loop.session import Session
from webagent.models.model import Model
from webagent.models.spending import MeteredModel
from webagent.policy.knowledge import (
    SiteFile,
    SiteMemory,
    learn_entries,
    read_files,
    write_file,
)
from webagent.policy.policy import Policy

FILES = "site-memory"
Files: TypeAlias = dict[str, SiteFile]
"""By site."""


@dataclass(frozen=True, slots=True)
class KeptKnowledge:
    """What a model has learnt after a round."""

    files: Files

    @classmethod
    def load(cls, folder: Path) -> "KeptKnowledge":
        """Return what lies in a folder. Raises `SetupError` for a file of a site that makes no
        sense."""
        place = folder / FILES
        return cls(read_files(place) if place.is_dir() else {})

    def save(self, folder: Path) -> None:
        """Write a file for each site."""
        for file in self.files.values():
            write_file(folder / FILES, file)


class KnowledgeLearner:
    """Keeps a memory of sites, which begins with the run's `--site-memory`, and shows it to a
    model."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named = contestant(session.config.played, knows=False)
        self._unmetered = self._named.language_model()
        self._model = MeteredModel(self._unmetered, session.ledger)
        given = session.config.prompting.site_memory
        self._files: Files = read_files(given) if given is not None else {}

    async def learn(self, state: ArmState, arm: str, round: int) -> None:
        """Write what the round's episodes teach, the demonstrations at first."""
        session = self._session
        folder = session.folder.weights(arm, session.repeat, round, "policy")
        if not folder.is_dir():
            if not round or session.arm.learns_from == "experience":
                # In a draft, which a killed session leaves unused.
                course = session.folder.path / "training" / f"{arm}-{session.repeat}" / str(round)
                shutil.rmtree(course, ignore_errors=True)
                KeptKnowledge(self._files).save(course)
                judged = [
                    (t, state.succeeded(t))
                    for t in state.experience
                    if t.provenance.round == round and state.success.get(t.id) is not None
                ]
                share = session.config.imagination.imagined_share
                successes = sum(ok for _, ok in judged)
                judged += [(t, True) for t in state.dreams[: int(successes * share / (1 - share))]]
                if not round:
                    judged = [(t, True) for t in state.demonstrations]
                await learn_entries(self._model, course / FILES, judged)
                self._files = KeptKnowledge.load(course).files
                shutil.rmtree(course, ignore_errors=True)
            session.folder.save(KeptKnowledge(self._files), arm, session.repeat, round, "policy")
        self._files = KeptKnowledge.load(folder).files

    def policy(self, purpose: Purpose) -> Policy:
        """Return the model with its memory; it samples except when it is measured."""
        temperature = {"measure": 0.0, "vote": 1.0}.get(
            purpose, self._session.config.exploring_temperature
        )
        return self._named.asking.policy(
            self._model,
            self._session.store.images if self._named.images else None,
            (SiteMemory(self._files),),
            temperature=temperature,
            max_tokens=self._named.max_tokens,
        )

    @property
    def knows_pages(self) -> bool:
        """Return whether its weights were trained to predict pages, which nobody here can say."""
        return False

    def language_model(self) -> Model:
        """Return the model without its memory of sites."""
        return self._unmetered

    async def close(self) -> None:
        """Give back what the model holds."""
        await self._model.close()

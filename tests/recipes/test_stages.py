"""What the loop says of its own stages."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from recipes.arms import ARMS
from recipes.folder import RunFolder
from recipes.noted import warnings_of
from recipes.session import SHARED, Session
from recipes.settings import ImproveConfig
from recipes.stages import tell_of_few_passes
from webagent.training.fit import FitReport


@pytest.mark.parametrize(
    ("tokens", "passes", "told"),
    [
        (500_000, 1.7, ["1.7 times, too seldom", "15 times are --base-tokens 4500000"]),
        (500_000, 16.0, []),
        (0, 0.0, []),
    ],
)
def test_a_first_training_too_short_for_its_demonstrations_is_told_and_kept(
    tmp_path: Path, tokens: int, passes: float, told: list[str]
) -> None:
    config = ImproveConfig(tasks=("click-test-2",))
    folder = RunFolder.create(tmp_path / "run", config, ["webagent", "improve"])
    nothing, said = cast(Any, SimpleNamespace()), list[str]()
    with folder.store() as store:
        session = Session(
            *(config, folder, store, nothing, nothing, ARMS[SHARED], 1),
            lambda stage, done, text: said.append(text),
        )
        tell_of_few_passes(session, FitReport(tokens, 10, 1.0, 1.0, passes, 1.0))
        kept = warnings_of(store)
    assert len(said) == len(kept) == bool(told)
    assert all(words in line for words in told for line in (*said, *kept))
    assert all(line.startswith("none, repeat 1: ") for line in kept)

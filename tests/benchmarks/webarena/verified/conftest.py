"""The published scorer, in an environment that is made once and kept between test runs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.webarena.rules.verified import ScorerError, interpreter


@pytest.fixture(scope="session")
def scorer() -> Iterator[Path]:
    """The interpreter that has the published package, which the rules use as well. Skips where pip
    cannot reach it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEBAGENT_SCORERS", os.environ["WEBAGENT_TESTS_CACHE"])
        try:
            yield interpreter()
        except ScorerError as error:
            pytest.skip(str(error))

"""A store for what a test plays."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from webagent.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty run folder, open."""
    with Store.open(tmp_path, create=True) as opened:
        yield opened

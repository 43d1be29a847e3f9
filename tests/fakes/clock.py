"""A clock of one module's own."""

import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest


def replace_clock(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, now: Callable[[], float]
) -> None:
    """Let one module have this monotonic clock. Replacing `time.monotonic` itself would stop the
    event loops of servers that run in other threads, for hours of their time."""
    own = SimpleNamespace(**vars(time) | {"monotonic": now})
    monkeypatch.setattr(module, "time", own)

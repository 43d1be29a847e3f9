"""A clock of one module's own."""

import time
from types import SimpleNamespace


def replace_clock(monkeypatch, module, now):
    """Let one module have this monotonic clock. Replacing `time.monotonic` itself would stop the
    event loops of servers that run in other threads, for hours of their time."""
    monkeypatch.setattr(module, "time", SimpleNamespace(**vars(time) | {"monotonic": now}))

"""Episodes that were read lately: a finished one never changes, so it is read once."""

import threading
from collections import OrderedDict
from pathlib import Path

from apps.view.archive import Run
from webagent.records import Trajectory
from webagent.store import Store

_MOST = 24
_held: OrderedDict[tuple[Path, int, str], Trajectory] = OrderedDict()
_lock = threading.Lock()


def loaded(run: Run, store: Store, episode: str) -> Trajectory | None:
    """The episode as it is now; None where there is none. Raises `StoreError`."""
    key = (run.path, _file(run), episode)
    with _lock:
        if key in _held:
            _held.move_to_end(key)
            return _held[key]
    trajectory = store.load(episode)
    if trajectory is not None and trajectory.ending is not None:
        with _lock:
            _held[key] = trajectory
            while len(_held) > _MOST:
                _held.popitem(last=False)
    return trajectory


def _file(run: Run) -> int:
    """Tells a run from one that was made anew in its folder."""
    try:
        return (run.path / "run.sqlite").stat().st_ino
    except OSError:  # the store has just been opened, and says better what is wrong
        return 0

"""Episodes that were read lately: a finished one never changes, so it is read once."""

import threading
from collections import OrderedDict
from pathlib import Path

from recipes.view.archive import Run
from webagent.records import Trajectory
from webagent.store import Store

_MOST = 24
_held: OrderedDict[tuple[Path, str], Trajectory] = OrderedDict()
_lock = threading.Lock()


def loaded(run: Run, store: Store, episode: str) -> Trajectory | None:
    """The episode as it is now; None where there is none. Raises `StoreError`."""
    key = (run.path, episode)
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

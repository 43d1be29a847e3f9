"""Time, steps and tokens of a measurement, noted over all of its sessions."""

import time
from collections import defaultdict

from webagent.records import Step
from webagent.store import Store


class Clock:
    """The run's recorder, which also notes time, steps and what was decided on in a session, on
    top of earlier ones."""

    def __init__(self, store: Store, arm: str) -> None:
        self.begin, self.finish, self.load = store.begin, store.finish, store.load
        self._store, self._key = store, self._key_of(arm)
        self._started = time.monotonic()
        self._sums: defaultdict[str, float] = defaultdict(float)

    def __enter__(self) -> "Clock":
        return self

    def __exit__(self, *failure: object) -> None:
        before = self._noted(self._store, self._key)
        self._sums["seconds"] = time.monotonic() - self._started
        names = ("seconds", "steps", *self._sums)
        now = {name: self._sums[name] + before.get(name, 0.0) for name in names}
        self._store.put_state(self._key, {**before, **now})

    def add_step(self, episode: str, position: int, step: Step) -> None:
        """Keep the step, and add what it took to the sums."""
        self._store.add_step(episode, position, step)
        decision = step.decision
        seconds = {"decision_seconds": decision.seconds, "world_seconds": step.seconds}
        tokens = {
            name: decision.usage[name]
            for name in ("input_tokens", "output_tokens")
            if name in decision.usage
        }
        for name, value in {"steps": 1, **seconds, **tokens}.items():
            self._sums[name] += value

    @classmethod
    def spent(cls, store: Store, *arms: str) -> float:
        """Seconds that the run has taken in earlier sessions for these arms."""
        return sum(cls._noted(store, cls._key_of(arm)).get("seconds", 0.0) for arm in arms)

    @staticmethod
    def _key_of(arm: str) -> str:
        return f"round:{arm}:0:0"

    @staticmethod
    def _noted(store: Store, key: str) -> dict[str, float]:
        noted = store.get_state(key)
        found = noted if isinstance(noted, dict) else {}
        return {k: float(v) for k, v in found.items() if isinstance(v, int | float)}

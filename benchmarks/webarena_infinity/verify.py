"""Runs one published verifier as it is: `verify.py FILE`, the state as JSON on standard input.

A verifier asks the application's server for its state with `requests`; here it gets the state that
was recorded when the episode ended. Writes `[passed, message]` as JSON.
"""

import importlib.util
import json
import sys
from types import ModuleType
from typing import Any

ADDRESS = "http://recorded.invalid"


class StateReply:
    """The part of a `requests` reply that verifiers use."""

    def __init__(self, state: Any) -> None:
        """`None` stands for a server that has no state, as before the application was opened."""
        self._state = state
        self.status_code = 404 if state is None else 200
        self.ok = state is not None
        self.text = json.dumps(state)

    def json(self) -> Any:
        """Return the state."""
        return self._state

    def raise_for_status(self) -> None:
        """Raises `OSError` where there is no state, as `requests` does."""
        if not self.ok:
            raise OSError("404")


def main() -> None:
    """Load the verifier and write what it finds."""
    state = json.load(sys.stdin)
    stub = ModuleType("requests")

    def get(url: str, **_: Any) -> StateReply:
        if url != f"{ADDRESS}/api/state":
            raise OSError(f"only the recorded state can be read, not {url}")
        return StateReply(state)

    vars(stub)["get"] = get
    sys.modules["requests"] = stub
    spec = importlib.util.spec_from_file_location("verifier", sys.argv[1])
    if spec is None or spec.loader is None:
        raise SystemExit(f"{sys.argv[1]} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    passed, message = module.verify(ADDRESS)
    sys.stdout.write(json.dumps([bool(passed), str(message)]) + "\n")


if __name__ == "__main__":
    main()

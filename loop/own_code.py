"""Objects of the user's own Python code, named on the command line as `FILE.py:NAME`."""

import hashlib
import importlib
import importlib.util
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from evaluators.evaluator import FunctionEvaluator
from webagent.errors import UsageError
from webagent.policy.policy import Policy


def load_own(place: str, meaning: str) -> Any:
    """Return the object at `FILE.py:NAME` or `MODULE:NAME`.

    `meaning` says in the error what the object is for. Raises `UsageError` if there is no such
    file, module or name, or if it cannot be imported. Exceptions that the code itself raises during
    the import are passed on with their traceback.
    """
    where, _, name = place.rpartition(":")
    if not where or not name:
        raise UsageError(f"{meaning}: {place!r} names no object; write FILE.py:NAME or MODULE:NAME")
    load = _load_file if where.endswith(".py") else importlib.import_module
    try:
        module = load(where)
    except (ImportError, OSError, SyntaxError) as error:
        raise UsageError(f"{meaning}: {where} cannot be imported: {error!r}") from error
    if not hasattr(module, name):
        public = [word for word in vars(module) if not word.startswith("_")]
        raise UsageError(f"{meaning}: {where} has no {name!r}; it has {', '.join(public)}")
    return getattr(module, name)


def load_own_policy(place: str) -> Policy:
    """Return the policy at `FILE.py:NAME`, or the result of calling the class or function there.

    Raises `UsageError` if it is not a policy.
    """
    found = load_own(place, f"--policy python:{place}")
    is_maker = callable(found) and (isinstance(found, type) or not hasattr(found, "act"))
    made = found() if is_maker else found
    if not (hasattr(made, "act") and hasattr(made, "propose")):
        raise UsageError(
            f"--policy python:{place} is of type {type(made).__name__}; a policy has the methods"
            " `act` and `propose` (docs/howto/own-model.md)"
        )
    policy: Policy = made
    return policy


def load_own_judge(place: str) -> FunctionEvaluator:
    """Return the evaluator at `FILE.py:NAME`; its id contains the hash of the file.

    Raises `UsageError` if it is not an evaluator.
    """
    found = load_own(place, f"the judge python:{place}")
    if not isinstance(found, FunctionEvaluator):
        raise UsageError(
            f"the judge python:{place} is of type {type(found).__name__}; decorate its function"
            " with @evaluator (docs/howto/own-judge.md)"
        )
    file = place.rpartition(":")[0]
    if not file.endswith(".py"):
        return found
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    return replace(found, id=f"{found.id}#{digest[:12]}")


def _load_file(name: str) -> ModuleType:
    path = Path(name).resolve(strict=True)
    key = f"webagent_own_{path.stem}_{abs(hash(path)):x}"
    if key in sys.modules:
        return sys.modules[key]
    spec = importlib.util.spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module  # dataclasses and pickles look their module up by name
    with ExitStack() as on_failure:
        on_failure.callback(sys.modules.pop, key)
        spec.loader.exec_module(module)
        on_failure.pop_all()
    return module

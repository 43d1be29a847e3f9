"""The published verifiers as a rule over the recorded state."""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.webarena_infinity import VARIABLE, find_applications
from evaluators.evaluator import Verdict
from evaluators.rules import rule
from tasks.task import Json

_VERIFY = Path(__file__).with_name("verify.py")
_SECONDS = 30.0
"""That a verifier may take; most take some milliseconds."""


@rule
def infinity_verified(found: Json, expected: Json) -> Verdict:
    """The verifier `APPLICATION/FILE` of the checkout accepts the state, run in a process of its
    own. Abstains where the verifier is not there or fails."""
    application, _, file = str(expected).partition("/")
    folder = find_applications().get(application)
    path = (folder / file).resolve() if folder else None
    if not (folder and path and path.is_relative_to(folder.resolve()) and path.is_file()):
        return Verdict(
            None, f"the verifier {expected} is not in the checkout that {VARIABLE} names"
        )
    try:
        done = subprocess.run(
            (sys.executable, "-I", str(_VERIFY), str(path)),
            input=json.dumps(found),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Verdict(None, f"the verifier {expected} did not run: {error}")
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        return Verdict(0.0, f"the verifier {expected} raised {last}")
    passed, message = json.loads(done.stdout.strip().rpartition("\n")[2])
    return Verdict(float(passed), message)

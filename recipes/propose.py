"""`webagent propose`: new tasks for a site, from whatever is known of it, sifted and proven."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from recipes.config import resolve
from recipes.folder import RunFolder
from recipes.proposing.report import (
    Share,
    as_json,
    errors_by_solving,
    reasons_of,
    rows_of,
    table_of,
)
from recipes.proposing.session import Session
from recipes.proposing.settings import ProposeConfig, resumed
from recipes.spending import told, why_stopped
from recipes.stopping import Stopped, run_until_stopped


def main(argv: Sequence[str]) -> int:
    """0: done; 1: a cap came before the end, or nothing was made, which is said."""
    config = resumed(resolve(ProposeConfig, "propose", argv))
    config.check()
    if config.preview:
        print(json.dumps(config.plan(), indent=1) if config.json else _listed(config.plan()))
        return 0
    folder = config.folder(["webagent", "propose", *argv])
    with folder.store() as store:
        session = Session(config, folder, store)
        try:
            run_until_stopped(session.propose())
        except Stopped as stopped:
            print(f"\n{stopped}; what was made is kept. Go on with:\n  {_resume(folder)}")
            return stopped.status
        reason = why_stopped(store)
    _tell(session, folder, reason)
    return 1 if reason or not session.lines else 0


def _tell(session: Session, folder: RunFolder, reason: str) -> None:
    rows = rows_of(session.lines, session.requests, session.unreadable)
    problems = [f"{source}: {why}" for source, why in session.problems]
    solving = errors_by_solving(session.lines)
    summary = {
        "site": session.config.site,
        "sources": as_json(rows),
        "refused_for": dict(reasons_of(session.lines)),
        "by_solving": {name: asdict(share) for name, share in solving.items()},
        "unreadable": problems,
        "spent": told(session.ledger),
        "stopped": reason,
    }
    folder.write_json("summary.json", summary)
    if session.config.json:
        print(json.dumps(summary, indent=1))
    else:
        print(table_of(rows))
        for said, count in reasons_of(session.lines):
            print(f"  {count} x {said}")
        if solving["passed"].of:
            print(_by_solving(solving))
        for problem in problems[:5]:
            print(f"  not read: {problem}")
        print(f"cost: {told(session.ledger) or 'no model was asked'}")
        print(f"proposals: {session.path}\n{_use(session.path)}")
    if reason:
        print(
            f"stopped before its end: {reason}. Go on with:\n  {_resume(folder)}", file=sys.stderr
        )


def _by_solving(solving: dict[str, Share]) -> str:
    refused = ", ".join(f"{name} {solving[name].count}" for name in solving if name != "passed")
    passed = solving["passed"]
    return (
        f"by solving: {passed.count} of {passed.of} that passed the other filters and were tried"
        f" were solved; of the {solving['validity'].of} solved in all were refused by {refused}"
    )


def _listed(plan: dict[str, object]) -> str:
    width = max(map(len, plan))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in plan.items())


def _use(path: Path) -> str:
    return f"play them: webagent benchmark proposed --files {shlex.quote(str(path))}"


def _resume(folder: RunFolder) -> str:
    return f"webagent propose --resume {shlex.quote(str(folder.path))}"

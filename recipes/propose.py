"""`webagent propose`: new tasks for a site, from whatever is known of it, sifted and proven."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from loop.console.outcome import CommandResult, Status, run_until_stopped
from loop.costs import format_spending, read_stop_reason
from loop.folder import RunFolder
from loop.proposers.report import (
    Proposed,
    Share,
    as_json,
    errors_by_solving,
    reasons_of,
    rows_of,
    table_of,
)
from loop.proposers.session import Session
from loop.proposers.settings import ProposeConfig, resumed
from recipes.settings import resolve


def main(argv: Sequence[str]) -> CommandResult:
    """Failed where nothing was made; stopped where a cap came before the end, which is said."""
    config = resumed(resolve(ProposeConfig, "propose", argv))
    config.check()
    if config.preview:
        print(_listed(config.plan()))
        return CommandResult({"preview": config.plan()})
    folder = config.folder(["webagent", "propose", *argv])
    with folder.store() as store:
        session = Session(config, folder, store)
        run_until_stopped(session.propose(), "what was made is kept", _resume(folder))
        reason = read_stop_reason(store)
    made = Status.DONE if session.lines else Status.FAILED
    return CommandResult(_told(session, folder, reason), Status.STOPPED if reason else made)


def _told(session: Session, folder: RunFolder, reason: str) -> Proposed:
    """The summary, written into the run's folder and shown."""
    rows = rows_of(session.lines, session.requests, session.unreadable)
    problems = [f"{source}: {why}" for source, why in session.problems]
    solving = errors_by_solving(session.lines)
    summary: Proposed = {
        "run": str(folder.path),
        "site": session.config.site,
        "sources": as_json(rows),
        "refused_for": dict(reasons_of(session.lines)),
        "by_solving": {name: asdict(share) for name, share in solving.items()},
        "unreadable": problems,
        "spent": format_spending(session.ledger),
        "stopped": reason,
    }
    folder.write_json("summary.json", summary)
    print(table_of(rows))
    for said, count in reasons_of(session.lines):
        print(f"  {count} x {said}")
    if solving["passed"].of:
        print(_by_solving(solving))
    for problem in problems[:5]:
        print(f"  not read: {problem}")
    print(f"cost: {format_spending(session.ledger) or 'no model was asked'}")
    print(f"proposals: {session.path}\n{_use(session.path)}")
    if reason:
        print(
            f"stopped before its end: {reason}. Go on with:\n  {_resume(folder)}", file=sys.stderr
        )
    return summary


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

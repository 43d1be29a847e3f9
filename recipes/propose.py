"""`webagent propose`: generate new tasks for a site, filter them, prove them by solving them."""

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from loop.console.output import CommandResult, Status, run_until_stopped
from loop.costs import format_spending, read_stop_reason
from loop.folder import RunFolder
from loop.proposers.records import ProposeSummary, count_by_source, count_reasons, format_table
from loop.proposers.session import ProposalRun
from loop.proposers.settings import ProposeConfig
from recipes.resuming import resume_settings
from recipes.settings import resolve


def main(argv: Sequence[str]) -> CommandResult:
    """Propose tasks; failed if there are none, stopped if a cap was reached, which is printed."""
    config = resolve(ProposeConfig, "propose", argv)
    if config.resume is not None:
        begun = RunFolder.open(config.resume).begun_by("propose", ProposeConfig)
        config = resume_settings(config, begun, argv)
    config.check()
    if config.preview:
        plan = config.plan()
        width = max(map(len, plan))
        print("\n".join(f"{name:<{width}}  {value}" for name, value in plan.items()))
        return CommandResult({"preview": plan})
    folder = RunFolder.begin(config, config, ["webagent", "propose", *argv])
    with folder.locked(), folder.store() as store:
        session = ProposalRun(config, folder, store)
        run_until_stopped(session.propose(), "what was made is kept", folder.resuming)
        reason = read_stop_reason(store)
    unreadable = Counter(source for source, _ in session.problems)
    rows = count_by_source(session.lines, session.requests, unreadable)
    reasons = count_reasons(session.lines)
    problems = [f"{source}: {why}" for source, why in session.problems]
    summary: ProposeSummary = {
        "run": str(folder.path),
        "site": config.site,
        "sources": [asdict(row) for row in rows],
        "refused_for": dict(reasons),
        "unreadable": problems,
        "spent": format_spending(session.ledger),
        "stopped": reason,
    }
    folder.write_result(summary, "summary.json")
    print(format_table(rows))
    for why, count in reasons:
        print(f"  {count} x {why}")
    for problem in problems[:5]:
        print(f"  not read: {problem}")
    print(f"cost: {summary['spent'] or 'no model was used'}\nproposals: {session.path}")
    print(f"play them: webagent benchmark proposed --files {shlex.quote(str(session.path))}")
    if reason:
        print(
            f"stopped before its end: {reason}. Go on with:\n  {folder.resuming}", file=sys.stderr
        )
    made = Status.DONE if session.lines else Status.FAILED
    return CommandResult(summary, Status.STOPPED if reason else made)

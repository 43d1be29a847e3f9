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
        return CommandResult({"preview": config.plan()})
    folder = RunFolder.begin(config, config, ["webagent", "propose", *argv])
    with folder.locked(), folder.store() as store:
        session = ProposalRun(config, folder, store)
        run_until_stopped(session.propose(), "what was made is kept", folder.resuming)
        reason = read_stop_reason(store)
    made = Status.DONE if session.lines else Status.FAILED
    return CommandResult(_summarize(session, folder, reason), Status.STOPPED if reason else made)


def _summarize(session: ProposalRun, folder: RunFolder, stopped: str) -> ProposeSummary:
    """Write the summary into the run's folder, print it, and return it."""
    unreadable = Counter(source for source, _ in session.problems)
    rows = count_by_source(session.lines, session.requests, unreadable)
    problems = [f"{source}: {why}" for source, why in session.problems]
    summary: ProposeSummary = {
        "run": str(folder.path),
        "site": session.config.site,
        "sources": [asdict(row) for row in rows],
        "refused_for": dict(count_reasons(session.lines)),
        "unreadable": problems,
        "spent": format_spending(session.ledger),
        "stopped": stopped,
    }
    folder.write_result(summary, "summary.json")
    print(format_table(rows))
    for reason, count in count_reasons(session.lines):
        print(f"  {count} x {reason}")
    for problem in problems[:5]:
        print(f"  not read: {problem}")
    print(f"cost: {format_spending(session.ledger) or 'no model was used'}")
    use = f"play them: webagent benchmark proposed --files {shlex.quote(str(session.path))}"
    print(f"proposals: {session.path}\n{use}")
    if stopped:
        print(
            f"stopped before its end: {stopped}. Go on with:\n  {folder.resuming}", file=sys.stderr
        )
    return summary

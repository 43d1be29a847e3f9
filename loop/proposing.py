"""Proposing within the loop: before a round, new tasks are generated, filtered, solved and added to
those that are sampled.

After PAE (arXiv 2412.13194), WebRL (2411.02337) and Go-Browse (2506.03533); uses `webagent
propose`, in a folder below the run's.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from loop.folder import RunFolder
from loop.judging.named import CHECKS
from loop.learners import ArmState
from loop.notes import PROPOSED
from loop.proposers.places import ProposalPlace, list_places
from loop.proposers.records import ProposalRecord, count_reasons
from loop.proposers.session import BorrowedParts, ProposalRun
from loop.proposers.settings import NOBODY, ProposeConfig
from loop.proposers.site import ProposalSite
from loop.session import Session
from loop.settings import ImproveConfig
from tasks.suite import Suite
from tasks.task import UNTRIED, Json, Refusal, Task
from webagent.errors import UsageError
from webagent.serialize import from_json, to_json
from webagent.store import Store

SOURCES: Mapping[str, str] = {"failures": "failures", "endpoint": "pages"}
"""The source of `webagent propose` for each proposer."""


async def propose(session: Session, state: ArmState, round: int) -> None:
    """Add new tasks to those sampled from this round on, or reload those that a killed session
    added. Raises `ModelError`, `WorldError` or `SetupError` if none can be generated."""
    if session.config.proposing.proposer == "none":
        return
    key = f"{PROPOSED}:{session.arm.name}:{session.repeat}:{round}"
    noted = session.store.get_state(key)
    if not isinstance(noted, dict):
        session.report("propose", 0.0, f"{session.config.proposing.propose} tasks requested")
        noted = await _propose(session, state, round)
        session.store.put_state(key, noted)
    kept = noted["tasks"]
    for each in kept if isinstance(kept, list) else ():
        task = from_json(Task, each)
        session.proposed[task.name] = task
    made = f"{noted['made']} made, {len(session.proposed)} to sample from in all"
    session.report("propose", 1.0, made)


async def _propose(session: Session, state: ArmState, round: int) -> dict[str, Json]:
    """Propose tasks for each place, and return the results."""
    config, started = session.config, time.monotonic()
    places = session.places
    records: list[ProposalRecord] = []
    unreadable = steps = 0
    for number, place in enumerate([*places][: config.proposing.propose]):
        share, more = divmod(config.proposing.propose, len(places))
        login = place.logins[(round - 1) % len(place.logins)]
        seed = 1000 * session.repeat + round
        settings = build_settings(config, share + (number < more), login, seed)
        path = session.folder.path / PROPOSED / f"{session.arm.name}-{session.repeat}"
        path /= f"{round}-{number}"
        is_begun = (path / "run.json").exists()
        folder = (
            RunFolder.open(path) if is_begun else RunFolder.create(path, settings, ["webagent"])
        )
        with folder.store() as store:
            borrowed = _lend(session, state, store, place, login)
            run = ProposalRun(settings, folder, store, borrowed)
            await run.work()
        lines = run.lines
        records += map(_take_untried, lines) if session.judge is not None else lines
        unreadable, steps = unreadable + len(run.problems), steps + run.steps
    refusals = [record.proposal.refusals for record in records]
    return {
        "proposer": config.proposing.proposer,
        "made": len(records),
        "unreadable": unreadable,
        "refused": dict(Counter(each[0].filter for each in refusals if each)),
        "reasons": dict(count_reasons(records)),
        "tasks": [
            # A parent would make the curriculum take it for a variant of a task it draws.
            to_json(replace(record.proposal.task, parent=""))
            for record in records
            if record.is_taken
        ],
        "steps": steps,
        "seconds": time.monotonic() - started,
    }


def _lend(
    session: Session, state: ArmState, store: Store, place: ProposalPlace, login: str
) -> BorrowedParts:
    """Return what the session lends to the run that proposes for a place: its browser and sites,
    its experience there, its policy and its judge."""
    own = session.config.proposing.proposals_solved_by == "policy"
    scope, judge = session.places[place], session.judge
    there = [one for one in state.experience if place.holds(one.task)]

    def refuse(task: Task) -> Refusal | None:
        if task.name in session.names:
            return Refusal("novelty", "a task of the run has the same name")
        leak = session.find_leak(task)
        return Refusal("held out", leak) if leak else None

    def keep(picture: bytes) -> str:
        store.images.add(picture)
        return session.store.images.add(picture)

    return BorrowedParts(
        ProposalSite(scope, place.start(scope, login), session.player.worlds(keep)),
        session.ledger,
        [(one, state.succeeded(one)) for one in there if state.success.get(one.id) is not None],
        [session.suite.task(name, 0) for name in session.names],
        refuse,
        state.learner.policy("collect") if own else None,
        judge.evaluator if judge else None,
    )


def _take_untried(record: ProposalRecord) -> ProposalRecord:
    """Return an untested proposal that passed the filters as accepted, without its unproven checks:
    the judge of the loop decides about it."""
    proposal = record.proposal
    if [(each.filter, each.reason) for each in proposal.refusals] != [("feasibility", UNTRIED)]:
        return record
    task = replace(proposal.task, checks=(), queries={})
    return replace(record, proposal=replace(proposal, task=task, refusals=()))


def build_settings(
    config: ImproveConfig, count: int, login: str = "", seed: int = 0
) -> ProposeConfig:
    """Return the settings of the run that proposes."""
    model = config.proposer
    return ProposeConfig(
        source=(SOURCES[config.proposing.proposer],),
        count=count,
        login=login,
        model=model,
        solver=model.policy if config.proposing.proposals_solved_by == "proposer" else NOBODY,
        guard=config.selection.guard,
        confirm=config.selection.confirm,
        concurrency=config.run.concurrency,
        seed=seed,
    )


def check_proposer(config: ImproveConfig, suite: Suite, names: Sequence[str]) -> None:
    """Check the settings of the proposer. Raises `SetupError`."""
    if config.proposing.proposer == "none":
        return
    if config.proposing.propose < 1:
        raise UsageError(
            f"--propose {config.proposing.propose}: at least 1 is needed; omit --proposer to"
            " propose no tasks"
        )
    places = list_places(suite.task(name, 0) for name in names)
    if not places:
        raise UsageError(
            f"--proposer {config.proposing.proposer}: the tasks of {suite.id} begin on pages that"
            " give their own goals, so that no other task can be proposed there; name a benchmark"
            " on a site that is started, or your own with --benchmark own"
        )
    if config.proposing.proposals_solved_by == "nobody" and config.judging.judge in CHECKS:
        raise UsageError(
            f"--proposer {config.proposing.proposer}: a model's checks count only where the task"
            " was solved; have it solved with --proposals-solved-by policy, or name a judge with"
            " --judge, as judge:evidence"
        )
    if not config.proposer.is_named and config.proposer.policy == "endpoint":
        raise UsageError(
            f"--proposer {config.proposing.proposer} asks a model; name it with --proposer-model"
        )
    config.proposer.contestant().check()

"""Filtering proposals: by rules first, then by a model, at last by solving."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from loop.proposers.asking import ProposerModel, read_object
from loop.proposers.novelty import check_novelty
from loop.proposers.records import ProposalRecord, SolveResult
from loop.proposers.requests import FILTER, SiteScope
from loop.proposers.safety import GuardLimits, check_safety
from loop.proposers.validity import check_validity
from tasks.proposal import UNTRIED, Refusal, TaskProposal
from tasks.task import Task
from webagent.guard import Guard
from webagent.guard.decide import decide_request
from webagent.guard.policy import open_for_task
from webagent.models.model import Message
from webagent.models.model import Reply as ModelReply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read

Prove: TypeAlias = Callable[[TaskProposal], Awaitable[SolveResult | None]]
"""Has a proposal solved by whoever can, and says what came of it; None where nobody tried."""

_AT_ONCE = 10


@dataclass(slots=True)
class ProposalFilter:
    """The filters of one run; remembers what it let through, so that nothing comes twice."""

    scope: SiteScope
    known: list[Task] = field(default_factory=list)
    """Tasks there are already."""
    limits: GuardLimits = field(default_factory=GuardLimits)
    alike: float = 0.6
    """From which likeness in words, 0 to 1, two goals are one."""
    asker: ProposerModel | None = None
    """Asked about validity and safety what rules cannot see; None: rules alone."""
    prove: Prove | None = None
    """None: nobody tries, so that nothing but what came with a solution is feasible."""
    on_line: Callable[[ProposalRecord], None] = lambda line: None
    """Called with each line once it is settled."""

    async def filter_records(self, lines: Sequence[ProposalRecord]) -> list[ProposalRecord]:
        """Return the lines with what is said against each, rule by rule. Raises `ModelError`.

        The model and whoever proves are only asked about what has passed so far.
        """
        settled = []
        for line in await self._ask_model([self._apply_rules(line) for line in lines]):
            settled.append(await self._prove_feasible(line) if line.is_taken else line)
            self.on_line(settled[-1])
        return settled

    def _apply_rules(self, line: ProposalRecord) -> ProposalRecord:
        """Return the line with what the rules say; what they let through is known from then on."""
        task = line.proposal.task
        checked = line.refused(
            check_validity(task, self.scope, line.steps),
            check_safety(task, self.scope, self.limits),
            check_novelty(task, self.known, self.alike),
        )
        if checked.is_taken:
            self.known.append(task)
        return checked

    async def _ask_model(self, lines: list[ProposalRecord]) -> list[ProposalRecord]:
        if self.asker is None:
            return lines
        passed = [line for line in lines if line.is_taken]
        refusals: dict[str, Refusal | None] = {}
        for start in range(0, len(passed), _AT_ONCE):
            tasks = [line.proposal.task for line in passed[start : start + _AT_ONCE]]
            verdicts = await ask_verdicts(self.asker, tasks, self.scope)
            refusals.update(zip((task.id for task in tasks), verdicts, strict=True))
        return [
            line.refused(refusals.get(line.proposal.task.id)) if line.is_taken else line
            for line in lines
        ]

    async def _prove_feasible(self, line: ProposalRecord) -> ProposalRecord:
        proposal = line.proposal
        if proposal.solution:
            solved = SolveResult(
                True, 1, proposal.solution, proposal.source, bool(proposal.task.checks)
            )
            return replace(line, proof=line.proof or solved)
        proof = await self.prove(proposal) if self.prove else None
        settled = replace(line, proposal=keep_proven_checks(proposal, proof), proof=proof)
        return settled.refused(check_feasibility(proof))


def keep_proven_checks(proposal: TaskProposal, proof: SolveResult | None) -> TaskProposal:
    """Return the proposal with its solution, and with its checks where they were proven.

    Checks that did not tell the solution from doing nothing go; then only a judge can say.
    """
    if proof is None or not proof.is_solved:
        return proposal
    task = proposal.task if proof.is_checked else replace(proposal.task, checks=(), queries={})
    return replace(proposal, task=task, solution=proof.solution)


def read_guard_limits(guard: Guard | None) -> GuardLimits:
    """Return what an episode's guard allows, for the filter of safety."""
    if guard is None:
        return GuardLimits()
    policy = guard.policy

    def closed(url: str) -> str:
        verdict = decide_request(open_for_task(policy, url), url)
        return "" if verdict.is_allowed else f"the guard closes it: {verdict.reason}"

    reading = {"GET", "HEAD", "OPTIONS"}
    opened = [rule for rule in policy.sites if rule.verdict == "allow"]
    only_reads = bool(opened) and all(r.methods and reading >= set(r.methods) for r in opened)
    return GuardLimits(closed, only_reads and policy.other_sites == "deny")


async def ask_verdicts(
    asker: ProposerModel, tasks: Sequence[Task], scope: SiteScope
) -> list[Refusal | None]:
    """Return what a model says of tasks by their words: why each is not taken, or None.

    A reply that cannot be read is asked for once more; after that every one of the tasks is
    refused, as nobody has looked at it. Raises `ModelError`.
    """
    prompt = load_prompt(FILTER)
    asker = replace(asker, sampling=replace(asker.sampling, temperature=0.0))
    system = prompt.fill(
        "system",
        steps=str(scope.max_steps),
        language=scope.language,
        living=prompt.sections["local" if scope.is_reset else "live"],
    )
    lines = (f"{n}. {' '.join(task.goal.split())}" for n, task in enumerate(tasks, 1))
    site = f"{scope.name}, at {scope.address}"
    user = prompt.fill("user", site=site, tasks=fence("tasks", "\n".join(lines)))

    async def ask(messages: Sequence[Message]) -> ModelReply:
        return ModelReply((await asker.reply(messages, prompt)).reply)

    try:
        return await ask_and_read(
            ask,
            [Message("system", system), Message("user", user)],
            lambda text: read_object(text, lambda entry: _parse_verdicts(entry, len(tasks))),
            lambda problem: prompt.fill("again", problem=problem),
        )
    except UnusableError as error:
        reason = f"the model's verdict could not be read: {error}"
        return [Refusal("validity", reason)] * len(tasks)


def _parse_verdicts(reply: Mapping[str, Any], count: int) -> list[Refusal | None]:
    """Return the refusal of each task, in order. Raises `UnusableError`."""
    entries = reply.get("verdicts")
    if not isinstance(entries, list) or len(entries) != count:
        raise UnusableError(f'expected "verdicts", a list of {count}; found {entries!r:.80}')
    wanted = {"task": int, "valid": bool, "safe": bool, "reason": str}
    refusals: list[Refusal | None] = []
    for number, entry in enumerate(entries, 1):
        fits = isinstance(entry, dict) and entry.keys() == wanted.keys()
        if not fits or any(type(entry[key]) is not kind for key, kind in wanted.items()):
            raise UnusableError(
                f"verdict {number}: expected {', '.join(wanted)}; found {entry!r:.80}"
            )
        if entry["task"] != number:
            raise UnusableError(f"verdict {number} is of task {entry['task']}")
        filter = "" if entry["valid"] else "validity"
        filter = filter if entry["safe"] else "safety"
        refusals.append(Refusal(filter, f"the model: {entry['reason']}") if filter else None)
    return refusals


def check_feasibility(proof: SolveResult | None) -> Refusal | None:
    """Return why a task is not known to be feasible; None where it was solved."""
    if proof is None:
        return Refusal("feasibility", UNTRIED)
    if proof.is_solved:
        return None
    if proof.fooled_by:
        return Refusal("validity", f"its checks also hold for {proof.fooled_by}")
    who = proof.by or "nobody"
    times = f"{proof.tries} {'try' if proof.tries == 1 else 'tries'}"
    return Refusal("feasibility", f"not solved in {times} by {who}: {proof.reason}".rstrip(": "))

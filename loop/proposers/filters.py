"""Filtering proposals: by rules first, then by a model, at last by solving."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from loop.proposers.asking import ProposerModel, read_object
from loop.proposers.novelty import Embed, SimilarityLimits, check_novelty
from loop.proposers.records import ProposalRecord, SolveResult
from loop.proposers.requests import FILTER, SiteScope
from loop.proposers.safety import GuardLimits, check_safety
from loop.proposers.validity import check_validity
from tasks.proposal import UNTRIED, Proposal, Refusal
from tasks.task import Task
from webagent.guard import Guard
from webagent.guard.decide import decide_request
from webagent.guard.policy import open_for_task
from webagent.models.model import Message
from webagent.models.model import Reply as ModelReply
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read

Prove: TypeAlias = Callable[[Proposal], Awaitable[SolveResult | None]]
"""Has a proposal solved by whoever can, and says what came of it; None where nobody tried."""

_AT_ONCE = 10


@dataclass(slots=True)
class ProposalFilter:
    """The filters of one run; remembers what it let through, so that nothing comes twice."""

    scope: SiteScope
    known: list[Task] = field(default_factory=list)
    """Tasks there are already."""
    limits: GuardLimits = field(default_factory=GuardLimits)
    alike: SimilarityLimits = field(default_factory=SimilarityLimits)
    embed: Embed | None = None
    asker: ProposerModel | None = None
    """Asked about validity and safety what rules cannot see; None: rules alone."""
    prove: Prove | None = None
    """None: nobody tries, so that nothing but what came with a solution is feasible."""
    on_line: Callable[[ProposalRecord], None] = lambda line: None
    """Told of each line once it is settled."""

    async def filter_records(self, lines: Sequence[ProposalRecord]) -> list[ProposalRecord]:
        """The lines with what is said against each. Rules say all they find; the model and whoever
        proves are only asked about what has passed so far. Raises `ModelError`."""
        ruled = [self.by_rules(line) for line in lines]
        judged = await self._by_model(ruled)
        settled = []
        for line in judged:
            settled.append(await self._proven(line) if line.is_taken else line)
            self.on_line(settled[-1])
        return settled

    def by_rules(self, line: ProposalRecord) -> ProposalRecord:
        """With what the rules say of it; it is known from then on if they let it through."""
        task = line.proposal.task
        checked = line.refused(
            check_validity(task, self.scope, line.steps),
            check_safety(task, self.scope, self.limits),
            check_novelty(task, self.known, self.alike, self.embed),
        )
        if checked.is_taken:
            self.known.append(task)
        return checked

    async def _by_model(self, lines: Sequence[ProposalRecord]) -> list[ProposalRecord]:
        if self.asker is None:
            return list(lines)
        passed = [line for line in lines if line.is_taken]
        told: dict[str, ProposalRecord] = {}
        for start in range(0, len(passed), _AT_ONCE):
            group = passed[start : start + _AT_ONCE]
            verdicts = await ask_verdicts(
                self.asker, [each.proposal.task for each in group], self.scope
            )
            for line, refusal in zip(group, verdicts, strict=True):
                told[line.proposal.task.id] = line.refused(refusal)
        return [told.get(line.proposal.task.id, line) if line.is_taken else line for line in lines]

    async def _proven(self, line: ProposalRecord) -> ProposalRecord:
        proposal = line.proposal
        if proposal.solution:
            solved = SolveResult(
                True, 1, proposal.solution, proposal.source, bool(proposal.task.checks)
            )
            return replace(line, proof=line.proof or solved)
        proof = await self.prove(proposal) if self.prove else None
        settled = replace(line, proposal=keep_proven_checks(proposal, proof), proof=proof)
        return settled.refused(check_feasibility(proof))


def keep_proven_checks(proposal: Proposal, proof: SolveResult | None) -> Proposal:
    """The proposal with its solution, and without the checks that were written beside it unless
    they told the solution from doing nothing; then only a judge can say."""
    if proof is None or not proof.is_solved:
        return proposal
    task = proposal.task
    if not proof.is_checked:
        task = replace(task, checks=(), queries={})
    return replace(proposal, task=task, solution=proof.solution)


def read_guard_limits(guard: Guard | None) -> GuardLimits:
    """What an episode's guard allows, for the filter of safety."""
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
    """What a model says of tasks by their words: why each is not taken, or None.

    A reply that cannot be read is asked for once more; after that every one of the tasks is
    refused, as nobody has looked at it. Raises `ModelError`.
    """
    prompt = load_prompt(FILTER)
    asker = replace(asker, sampling=replace(asker.sampling, temperature=0.0))
    messages = [
        Message("system", _fill_system(prompt, scope)),
        Message("user", _fill_user(prompt, tasks, scope)),
    ]

    async def ask(asked: Sequence[Message]) -> ModelReply:
        return ModelReply((await asker.reply(asked, prompt)).text)

    try:
        return await ask_and_read(
            ask,
            messages,
            lambda text: read_object(text, lambda said: _parse_verdicts(said, len(tasks))),
            lambda problem: prompt.fill("again", problem=problem),
        )
    except UnusableError as error:
        reason = f"the model's verdict could not be read: {error}"
        return [Refusal("validity", reason)] * len(tasks)


def _fill_system(prompt: Prompt, scope: SiteScope) -> str:
    living = prompt.sections["local" if scope.is_reset else "live"]
    steps = str(scope.max_steps)
    return prompt.fill("system", steps=steps, language=scope.language, living=living)


def _fill_user(prompt: Prompt, tasks: Sequence[Task], scope: SiteScope) -> str:
    lines = (f"{n}. {' '.join(task.goal.split())}" for n, task in enumerate(tasks, 1))
    site = f"{scope.name}, at {scope.address}"
    return prompt.fill("user", site=site, tasks=fence("tasks", "\n".join(lines)))


def _parse_verdicts(said: Mapping[str, Any], count: int) -> list[Refusal | None]:
    """One for each task, in order. Raises `UnusableError`."""
    entries = said.get("verdicts")
    if not isinstance(entries, list) or len(entries) != count:
        raise UnusableError(f'expected "verdicts", a list of {count}; found {entries!r:.80}')
    return [_parse_verdict(entry, number) for number, entry in enumerate(entries, 1)]


def _parse_verdict(entry: Any, number: int) -> Refusal | None:
    wanted = {"task": int, "valid": bool, "safe": bool, "reason": str}
    fits = isinstance(entry, dict) and entry.keys() == wanted.keys()
    if not fits or any(type(entry[key]) is not kind for key, kind in wanted.items()):
        raise UnusableError(f"verdict {number}: expected {', '.join(wanted)}; found {entry!r:.80}")
    if entry["task"] != number:
        raise UnusableError(f"verdict {number} is of task {entry['task']}")
    if not entry["safe"]:
        return Refusal("safety", f"the model: {entry['reason']}")
    return None if entry["valid"] else Refusal("validity", f"the model: {entry['reason']}")


def check_feasibility(proof: SolveResult | None) -> Refusal | None:
    """Why a task is not known to be feasible; None where it was solved."""
    if proof is None:
        return Refusal("feasibility", UNTRIED)
    if proof.is_solved:
        return None
    if proof.fooled_by:
        return Refusal("validity", f"its checks also hold for {proof.fooled_by}")
    who = proof.by or "nobody"
    times = f"{proof.tries} {'try' if proof.tries == 1 else 'tries'}"
    return Refusal("feasibility", f"not solved in {times} by {who}: {proof.reason}".rstrip(": "))

"""Filtering proposals: by rules first, then by a model, at last by solving."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from re import Pattern
from typing import Any, TypeAlias

from loop.proposers.records import ProposalRecord, SolveResult
from loop.proposers.requests import FILTER, ProposerModel, SiteScope, read_object
from loop.proposers.validity import LEXICON, check_validity, likeness, values, words
from tasks.task import UNTRIED, Refusal, Task, TaskProposal
from webagent.guard import Guard
from webagent.guard.decide import decide_request
from webagent.guard.policy import open_for_task
from webagent.models.model import Message
from webagent.models.model import Reply as ModelReply
from webagent.models.prompt import fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """What the guard of an episode allows, as far as a task can go against it."""

    closed: Callable[[str], str] = lambda url: ""
    """Why an address may not be opened; empty where it may."""
    only_reads: bool = False
    """Whether requests that change something are refused."""


def _compile(patterns: Mapping[str, str]) -> dict[str, Pattern[str]]:
    flags = re.IGNORECASE | re.VERBOSE
    return {name: re.compile(text, flags) for name, text in patterns.items()}


NOWHERE, LIVE = _compile(LEXICON["refused"]["everywhere"]), _compile(LEXICON["refused"]["live"])
"""The kinds of goals that are refused everywhere, and on a live site."""
_PATTERNS = _compile(LEXICON["patterns"])
_DOMAIN = re.compile(
    r"(?:https?://)?((?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|io|co|dev|ai|app|info|test|de|uk|fr))\b",
    re.IGNORECASE,
)


def check_safety(task: Task, scope: SiteScope, limits: GuardLimits | None = None) -> Refusal | None:
    """Return why a task may not be asked for on this site; None where nothing is against it."""
    held = limits or GuardLimits()
    goal = task.goal
    change = _PATTERNS["change"].search(goal)
    what = change[0].strip(" ,.;:") if change else ""
    reason = (
        _find_kind(NOWHERE, goal)
        or _find_other_site(goal, scope)
        or held.closed(task.start_url)
        or ("" if scope.is_reset else _find_kind(LIVE, goal))
        or (change and held.only_reads and f"the guard lets nothing be changed there: {what!r}")
        or (change and not scope.is_reset and f"a change that stays: {what!r}")
    )
    return Refusal("safety", reason) if reason else None


def _find_kind(kinds: Mapping[str, Pattern[str]], goal: str) -> str:
    for kind, pattern in kinds.items():
        if match := pattern.search(goal):
            return f"{kind}: {match[0]!r}"
    return ""


def _find_other_site(goal: str, scope: SiteScope) -> str:
    scheme = scope.address.split(":")[0]
    for match in _DOMAIN.finditer(goal):
        host = match[1].lower()
        is_mail = match.start() and goal[match.start() - 1] == "@"
        is_own = scope.holds(f"{scheme}://{match[1]}") or host in scope.address.lower()
        if not is_mail and not is_own:
            return f"another site: {host}"
    named = _PATTERNS["known_site"].search(goal)
    if named and named[1].lower() not in f"{scope.name} {scope.address}".lower():
        return f"another site: {named[1]}"
    return ""


_HERE = re.compile(r"\b(?:this|these|here)\b", re.IGNORECASE)


def check_novelty(task: Task, known: Sequence[Task], alike: float = 0.6) -> Refusal | None:
    """Return why a task is not new beside the known ones; None where it is.

    Tasks are the same from the likeness `alike` on (`validity.likeness`, 0 to 1). Those that name
    other values (quoted words, numbers, names) are other tasks, however alike their words are;
    tasks whose checks ask the same of the same state are the same, however different. On another
    site, or as somebody else, everything is new.
    """
    rivals = [each for each in known if _place(each) == _place(task)]
    # Two questions may have one answer, and to change nothing is no state of its own.
    if any(
        not check.evidence.startswith("episode.")
        and (check.rule, check.expected) != ("unchanged", [])
        for check in task.checks
    ):
        for rival in rivals:
            if _end_state(task) == _end_state(rival):
                return Refusal("novelty", f"its checks are those of {rival.id}: the same end state")
    for rival in rivals:
        share = likeness(task.goal, rival.goal) if _may_be_same(task, rival) else 0.0
        if share >= alike:
            reason = f"as {rival.id}, {rival.goal[:80]!r}: {share:.2f} alike in words"
            return Refusal("novelty", reason)
    return None


def _place(task: Task) -> tuple[str, str]:
    """Return the site and who is logged in there."""
    return task.site or "/".join(task.start_url.split("/", 3)[:3]), task.login


def _end_state(task: Task) -> list[tuple[str, str, str]]:
    """Return the checks in one order, the evidence by its query where it has one."""
    return sorted(
        (
            " ".join(task.queries.get(check.evidence, "").split()) or check.evidence,
            check.rule,
            repr(check.expected),
        )
        for check in task.checks
    )


def _may_be_same(task: Task, rival: Task) -> bool:
    """Return whether neither names a thing that the other does not mention, or another page.

    One sentence with other things in it is another task: `the status of this ticket`, `the type of
    this ticket`. The first word, the verb, is no such thing.
    """
    one, other = task.goal, rival.goal
    if _HERE.search(one) and task.start_url != rival.start_url:
        return False
    if any(value not in other.casefold() for value in values(one)):
        return False
    if any(value not in one.casefold() for value in values(other)):
        return False
    matcher = SequenceMatcher(None, words(one), words(other), autojunk=False)
    blocks = [block for block in matcher.get_opcodes() if block[0] != "equal"]
    is_same_frame = bool(blocks) and all(
        kind == "replace" and i1 > 0 and j1 > 0 and i2 - i1 <= 2 and j2 - j1 <= 2
        for kind, i1, i2, j1, j2 in blocks
    )
    return not is_same_frame


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
    """None: nobody tries, so that nothing is known to be feasible."""
    on_line: Callable[[ProposalRecord], None] = lambda line: None
    """Called with each line once it is settled."""
    refuse: Callable[[Task], Refusal | None] = lambda task: None
    """Why whoever wants the tasks cannot use one, whatever it is worth."""

    async def filter_records(self, lines: Sequence[ProposalRecord]) -> list[ProposalRecord]:
        """Return the lines with the refusals of each, rule by rule. Raises `ModelError`.

        What the rules let through is known from then on. The model and whoever proves are only
        asked about what has passed so far.
        """
        checked = []
        for line in lines:
            task = line.proposal.task
            checked.append(
                line.refused(
                    check_validity(task, self.scope, line.steps),
                    check_safety(task, self.scope, self.limits),
                    check_novelty(task, self.known, self.alike),
                    self.refuse(task),
                )
            )
            if checked[-1].is_taken:
                self.known.append(task)
        settled = []
        if self.asker is None:
            lines = checked
        else:
            passed = [line for line in checked if line.is_taken]
            refusals: dict[str, Refusal | None] = {}
            for start in range(0, len(passed), _AT_ONCE):
                tasks = [line.proposal.task for line in passed[start : start + _AT_ONCE]]
                verdicts = await ask_verdicts(self.asker, tasks, self.scope)
                refusals.update(zip((task.id for task in tasks), verdicts, strict=True))
            lines = [
                line.refused(refusals.get(line.proposal.task.id)) if line.is_taken else line
                for line in checked
            ]
        for line in lines:
            if line.is_taken:
                proof = await self.prove(line.proposal) if self.prove else None
                kept = keep_proven_checks(line.proposal, proof)
                line = replace(line, proposal=kept, proof=proof).refused(check_feasibility(proof))
            settled.append(line)
            self.on_line(line)
        return settled


def keep_proven_checks(proposal: TaskProposal, proof: SolveResult | None) -> TaskProposal:
    """Return the proposal with its solution, and with its checks where they were proven.

    Checks that did not tell the solution from doing nothing go; then only a judge can decide.
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

    A reply that cannot be read is requested once more, then for each task alone, as small models
    forget some; a task that nobody has looked at is refused. Raises `ModelError`.
    """
    prompt = load_prompt(FILTER)
    asker = replace(asker, sampling=replace(asker.sampling, temperature=0.0))
    system = prompt.fill(
        "system",
        steps=str(scope.max_steps),
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
        if len(tasks) > 1:
            return [(await ask_verdicts(asker, [task], scope))[0] for task in tasks]
        return [Refusal("validity", f"the model's verdict could not be read: {error}")]


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

"""Why an action was chosen, in words: which cases, which descriptors, how confident."""

from collections.abc import Iterator, Sequence
from typing import Any

from webagent.action import format_action
from webagent.memory.analogy import Proposal
from webagent.memory.scene import Scene

_MOST_REASONS = 3
_MOST_CASES = 3


def explain(proposal: Proposal, scene: Scene) -> list[str]:
    """Return lines that say why this action was proposed in this scene."""
    lines = [f"{format_action(proposal.action)}, {proposal.confidence:.0%} confident"]
    for choice in proposal.choices:
        node = scene.page.observation.node(choice.value) if isinstance(choice.value, int) else None
        if node is not None:
            chosen = f"{node.role} {node.name!r}"
        else:
            chosen = repr(choice.value) if choice.value else "no element"
        lines.append(f"  {chosen}: {choice.probability:.0%}")
        reasons = sorted(choice.reasons.items(), key=lambda each: -each[1])
        lines += [
            f"    {phrase(descriptor, scene)} ({share:.0%} of the recall)"
            for descriptor, share in reasons[:_MOST_REASONS]
        ]
    cases = sorted(proposal.recalled, key=lambda each: -each[0])[:_MOST_CASES]
    lines += [
        f"  recalled {share:.0%}: step {case.step + 1} of {case.task}, episode {case.episode}"
        f" ({case.source}{'' if case.weight > 0 else ', to be avoided'})"
        for share, case in cases
    ]
    return lines


def phrase(descriptor: Sequence[Any], scene: Scene) -> str:
    """Return a descriptor in words, with the values it speaks of here."""
    head, *rest = descriptor
    return f"{_WORDS.get(str(head), str(head))} {', '.join(_parts(rest, scene))}".strip()


_WORDS = {
    "is": "the text is",
    "name": "named",
    "part": "whose name holds",
    "wanted": "named in the goal and not acted on yet:",
    "named value": "what the goal names with a value, not filled in yet:",
    "nth": "by its place:",
    "row": "in the row of",
    "after": "after",
    "before": "before",
    "rows": "in rows with",
    "untried": "not tried yet:",
    "extreme": "the record with the",
    "beside": "beside",
    "line": "the line",
    "append": "behind what the field holds",
    "compose": "put together from",
    "earlier": "on an earlier page:",
    "each": "for each place of",
}


def _parts(parts: Sequence[Any], scene: Scene) -> Iterator[str]:
    for part in parts:
        if isinstance(part, tuple) and part and isinstance(part[0], str) and part[0] in "=$@/":
            value = repr(part[1] if part[0] == "=" else scene.value(part))
            match part[0]:
                case "$":
                    yield f"value {part[1] + 1} of the goal, {value}"
                case "/" | "//":
                    yield f"the number {value} in a value of the goal"
                case "@":
                    yield f"what the goal says there, {value}"
                case _:
                    yield value
        elif isinstance(part, tuple):
            yield f"({', '.join(_parts(part, scene))})"
        elif part not in ("", 0):
            yield str(part)

"""Episodes whose steps carry the ids a language model sampled."""

from dataclasses import replace

from tests.fakes.lessons import episode, node, page
from webagent.action.actions import Click
from webagent.records import Decision, Ending, Step, Trajectory

CHOICE = '{"choices": ["click(1)"]}'


def sampled(prompt: tuple[int, ...], reply: tuple[int, ...], **fields: object) -> Decision:
    """A decision with these ids, each sampled with probability one half."""
    usual = {"weights": "w1", "log_probs": (-0.69,) * len(reply)} | fields
    return Decision(Click(1), prompt_ids=prompt, sampled_ids=reply, **usual)  # type: ignore[arg-type]


def played(*decisions: Decision, id: str = "e", **fields: object) -> Trajectory:
    """A finished episode of these decisions, each on a page of its own."""
    pages = [page("Go", node(1, "button", f"Go {i}")) for i in range(len(decisions) + 1)]
    steps = tuple(Step(seen, made) for seen, made in zip(pages, decisions, strict=False))
    fields = {"steps": steps, "ending": Ending.TASK_OVER} | fields
    return replace(episode(id=id, last=pages[-1]), **fields)  # type: ignore[arg-type]

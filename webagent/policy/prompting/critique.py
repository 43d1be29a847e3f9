"""An action reviewed, and improved, by the model that proposed it, before it is done.

After "Language Models can Solve Computer Tasks" (Kim et al. 2023, arXiv 2303.17491), recursive
criticism and improvement. There criticism and improvement are two requests, of a plan and again of
each action; here one request holds both, once for each action.
"""

from pathlib import Path

from webagent.models.model import Message, Reply
from webagent.models.prompt import load_prompt
from webagent.models.replies import follow_up

PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "critique.md")


def reviewing(messages: tuple[Message, ...], reply: Reply, form: str) -> tuple[Message, ...]:
    """The conversation gone on with a request to review the reply; `form` holds the lines that
    stand between thought and action."""
    return (*messages, *follow_up(reply.text, PROMPT.fill("review", form=form)))

"""Messages as one text, in the form a model was trained on."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from webagent.errors import SetupError
from webagent.models.model import Message


class Conversation:
    """Writes messages out through a chat template and knows their ids.

    What a message says never becomes a control token: a page that spells out the end of a turn is
    shown with a space in it.
    """

    def __init__(self, tokenizer: Any, template: str, *, typed: bool, marks: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._template = template
        self._typed = typed
        control = {
            token.content for token in tokenizer.added_tokens_decoder.values() if token.special
        }
        found = sorted({*control, *marks} - {""}, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, found)) or r"(?!)")

    def write(self, messages: Sequence[Message]) -> str:
        """The text, ready for the reply. Raises `SetupError` when the template refuses it."""
        from jinja2 import TemplateError

        try:
            return self._render(messages)
        except TemplateError as error:
            refused = error
        try:
            return self._render(_without_system(messages))
        except TemplateError:
            roles = " ".join(message.role for message in messages)
            raise SetupError(
                f"the chat template refuses a conversation of the roles {roles}: {refused}; name a"
                " file with another template in chat_template"
            ) from refused

    def encode(self, text: str) -> list[int]:
        """Its ids. The template has written every control token, the first included."""
        ids: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    def harmless(self, text: str) -> str:
        """The text without control tokens, and without what UTF-8 cannot write."""
        plain = text.encode("utf-8", "replace").decode("utf-8")
        return self._control.sub(lambda found: f"{found[0][:1]} {found[0][1:]}", plain)

    def _render(self, messages: Sequence[Message]) -> str:
        turns = [{"role": message.role, "content": self._content(message)} for message in messages]
        text: str = self._tokenizer.apply_chat_template(
            turns, chat_template=self._template, tokenize=False, add_generation_prompt=True
        )
        return text

    def _content(self, message: Message) -> str | list[dict[str, str]]:
        text = self.harmless(message.text)
        if not self._typed:
            return text
        return [{"type": "text", "text": text}, *({"type": "image"} for _ in message.images)]


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """The same with the system's words at the head of the first turn of the user."""
    said = "\n\n".join(message.text for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    place = next((at for at, turn in enumerate(turns) if turn.role == "user"), None)
    if place is not None and said:
        turns[place] = replace(turns[place], text=f"{said}\n\n{turns[place].text}")
    return turns

"""Secrets: placeholders for the model, values for the page, and nothing of them in what is kept."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from tasks.task import Json
from webagent.errors import SetupError
from webagent.guard.encodings import SHORTEST, EncodedValues
from webagent.guard.policy import Secret
from webagent.records import Node, Observation

Record = TypeVar("Record", Node, Observation)
_PLACEHOLDER = re.compile(r"<secret:([A-Za-z0-9_.-]+)>")


def find_placeholders(text: str) -> tuple[str, ...]:
    """Return names of the secrets that a text has placeholders for."""
    return tuple(_PLACEHOLDER.findall(text))


def placeholder(name: str) -> str:
    """Return what the model sees and writes in place of a secret."""
    return f"<secret:{name}>"


def read_secret(name: str, secret: Secret) -> str:
    """Return its value. Raises `SetupError` where it is missing or too short to be masked."""
    if secret.file is None:
        value, source = os.environ.get(secret.env, ""), f"the environment variable {secret.env}"
    else:
        source = str(secret.file)
        try:
            value = secret.file.read_text(encoding="utf-8").removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"secret {name}: {source} cannot be read ({error})") from error
    if len(value) < SHORTEST:
        raise SetupError(f"secret {name}: {source} holds {len(value)} characters, needs {SHORTEST}")
    return value


class Secrets:
    """The values, and the one place that turns placeholders into them and back."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)
        self._encoded = EncodedValues(self._values)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._values)})"

    def __bool__(self) -> bool:
        return bool(self._values)

    def revealed(self, text: str) -> str:
        """Return the text to type; placeholders of unknown names stay."""
        return _PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), text)

    def found_in(self, text: str) -> set[str]:
        """Return names of the secrets whose values a text carries, also in the web's encodings."""
        return self._encoded.names_in(text) if self._values else set()

    def found_in_bytes(self, data: bytes) -> set[str]:
        """Return names of the secrets whose values a body or message carries."""
        return self._encoded.names_in_bytes(data) if self._values else set()

    def masked(self, text: str) -> str:
        """Return the text with a placeholder in place of every value."""
        if not self.found_in(text):
            return text
        parts, at = [], 0
        for span in self._encoded.spans_in(text):
            parts += [text[at : span.start], placeholder(span.name)]
            at = span.end
        return "".join([*parts, text[at:]])

    def masked_json(self, value: Json) -> Json:
        """Return a JSON value with every text in it masked."""
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, list):
            return [self.masked_json(each) for each in value]
        if isinstance(value, dict):
            return {self.masked(key): self.masked_json(each) for key, each in value.items()}
        return value

    def masked_page(self, page: Observation) -> Observation:
        """Return an observation as the model may see and the store may keep it; pictures apart."""
        if not self._values or not self.found_in("\n".join(_texts_of(page))):
            return page
        return self._masked_record(page)

    def _masked_record(self, record: Record) -> Record:
        changes = {}
        for each in fields(record):
            before = getattr(record, each.name)
            after = self._masked_value(before)
            if after != before:
                changes[each.name] = after
        return replace(record, **changes) if changes else record

    def _masked_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, tuple):
            return tuple(map(self._masked_value, value))
        return self._masked_record(value) if isinstance(value, Node) else value


def _texts_of(value: Any) -> Iterator[str]:
    """Yield every text of a record."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts_of(each)
    elif isinstance(value, Node | Observation):
        for field in fields(value):
            yield from _texts_of(getattr(value, field.name))

"""Secrets: placeholders for the model, values for the page, and nothing of them in what is kept."""

import base64
import html
import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from tasks.task import Json
from webagent.errors import SetupError
from webagent.guard.policy import Secret
from webagent.records import Node, Observation

Record = TypeVar("Record", Node, Observation)
_PLACEHOLDER = re.compile(r"<secret:([A-Za-z0-9_.-]+)>")
SHORTEST = 4
"""Characters; what is shorter would be masked out of ordinary words."""


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
        masks = [(form, name) for name, value in values.items() for form in _forms(value)]
        self._names = {form.lower(): name for form, name in masks}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._values)})"

    def __bool__(self) -> bool:
        return bool(self._values)

    def revealed(self, text: str) -> str:
        """Return the text to type; placeholders of unknown names stay."""
        return _PLACEHOLDER.sub(lambda found: self._values.get(found[1], found[0]), text)

    def found_in(self, text: str) -> set[str]:
        """Return names of the secrets whose values a text carries, also encoded in a usual way."""
        if not self._values:
            return set()
        return {self._names[each.lower()] for each in self._pattern.findall(text)}

    def masked(self, text: str) -> str:
        """Return the text with a placeholder in place of every value."""
        if not self._values:
            return text
        return self._pattern.sub(lambda found: placeholder(self._names[found[0].lower()]), text)

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
        return self._masked_record(page) if self._values else page

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


def _forms(value: str) -> set[str]:
    """Return the value as pages and requests usually write it."""
    raw = value.encode()
    coded = base64.b64encode(raw).decode()
    forms = {
        value,
        quote(value, safe=""),
        quote(value),
        quote_plus(value),
        html.escape(value),
        json.dumps(value)[1:-1],
        raw.hex(),
        coded.rstrip("="),
        coded.rstrip("=").replace("+", "-").replace("/", "_"),
        value[::-1],
    }
    return {form for form in forms if len(form) >= SHORTEST}

"""Secrets: placeholders for the model, values for the page, and nothing of them in what is kept."""

import base64
import html
import os
import quopri
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from tasks.task import Json
from webagent.errors import SetupError
from webagent.guard.policy import Secret
from webagent.records import Node, Observation

SHORTEST = 4
"""Characters of a form; what is shorter would be found in ordinary words."""
_LEVELS = 4
"""Encodings one over the other that are undone: an address in an address in JSON, and one more."""
_LISTED = 6
"""Characters whose codes, as a list of numbers, are those of no calendar or row of pages."""
_SEARCHED_ALIKE = 8
"""Characters from which on base64 is also found in other case; shorter runs meet by chance."""
_ESCAPE = re.compile(
    r"%u[0-9a-f]{4}|%[cd][0-9a-f]%[89ab][0-9a-f]|%e[0-9a-f](?:%[89ab][0-9a-f]){2}"
    r"|%f[0-7](?:%[89ab][0-9a-f]){3}|%[0-9a-f]{2}"
    r"|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}|\\u\{[0-9a-f]{1,6}\}"
    r"|\\x[0-9a-f]{2}|\\[0-3][0-7]{0,2}|\\[4-7][0-7]?|\\[bfnrtv\"'\\/]"
    r"|&#x?[0-9a-f]{1,10};?|&[a-z][a-z0-9]{1,31};",
    re.IGNORECASE,
)
_ESCAPED = dict(zip("bfnrtv", "\b\f\n\r\t\v", strict=True))
_LOOK_ALIKE = re.compile("[\uff01-\uff5e\U000e0020-\U000e007e]")
"""Full width, and tags, which are not shown."""
_HEX_BETWEEN = (":", "-", " ", ",", ", ", ",0x", ", 0x", " 0x")
_DECIMAL_BETWEEN = (",", ", ", " ")
_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A part of a text that carries a value."""

    start: int
    end: int
    name: str
    """Whose value it is."""


class EncodedValues:
    """Finds named values in texts and bodies: as they are, in capitals, in full width, backwards,
    as codes of its characters, in base32 and base64 at any offset, quoted-printable, and these in
    percent, JavaScript and HTML escapes, several times over."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._alike: dict[str, str] = {}
        """Forms in lower case, whose case does not matter, and their names."""
        self._exact: dict[str, str] = {}
        self._runs: dict[str, tuple[bool, bool]] = {}
        """Of forms in base64, whether a character before and after carries bits of the value."""
        for name, value in values.items():
            raw, codings = value.encode(), {value.encode(), value.encode("utf-16-le")[:-1]}
            pairs = [f"{code:02x}" for code in raw]
            # A value that looks escaped itself is undone together with the escapes around it.
            plain = {value, value.replace(" ", "+"), value[::-1], _undo_escapes(value)}
            plain |= {coding.hex() for coding in codings}
            plain |= {"=" + "=".join(pairs), quopri.encodestring(raw).decode()}
            plain.add("".join(f"\\{ord(each):x} " for each in value).strip())  # in CSS
            if len(value) >= _LISTED:
                plain |= {between.join(pairs) for between in _HEX_BETWEEN}
                plain |= {between.join(str(ord(s)) for s in value) for between in _DECIMAL_BETWEEN}
            self._alike |= {_fold(form): name for form in plain if len(form) >= SHORTEST}
            for raw in codings:
                for offset in range(5):
                    coded = base64.b32encode(bytes(offset) + raw + bytes(4)).decode()
                    run = coded[-(-8 * offset // 5) : 8 * (offset + len(raw)) // 5].lower()
                    if len(run) >= _SEARCHED_ALIKE:
                        self._alike[run] = name
                for offset in range(3):
                    coded = base64.b64encode(bytes(offset) + raw + bytes(2)).decode()
                    bits = 8 * (offset + len(raw))
                    run = coded[-(-8 * offset // 6) : bits // 6]
                    is_long = len(run) >= _SEARCHED_ALIKE
                    spellings = {run, run.replace("+", "-").replace("/", "_")}
                    for form in spellings if len(run) >= SHORTEST else ():
                        form = _fold(form) if is_long else form
                        (self._alike if is_long else self._exact)[form] = name
                        self._runs[form] = offset > 0, bits % 6 > 0

    def names_in(self, text: str) -> set[str]:
        """Return names of the values that a text carries, but for one within another."""
        found: set[str] = set()
        level = text
        for _ in range(_LEVELS):
            folded = _fold(level)
            found.update(name for form, name in self._alike.items() if form in folded)
            found.update(name for form, name in self._exact.items() if form in level)
            decoded = _undo_escapes(level)
            if decoded == level:
                break
            level = decoded
        return {span.name for span in self.spans_in(text)} if len(found) > 1 else found

    def names_in_bytes(self, data: bytes) -> set[str]:
        """Return names of the values that a body carries, in UTF-8, UTF-16 or Latin-1."""
        texts = [data.decode("utf-8", errors="replace")]
        if "�" in texts[0]:
            texts.append(data.decode("latin-1"))
        if b"\0" in data:
            # Whether a text of two bytes a character begins at an even place is not known.
            even = [data, data[1:], data[:-1]]
            texts += [each.decode("utf-16-le", errors="replace") for each in even]
            texts.append(data.replace(b"\0", b"").decode("latin-1"))
        return set().union(*map(self.names_in, texts))

    def spans_in(self, text: str) -> list[SecretSpan]:
        """Return where a text carries the values, in order and apart from each other."""
        found: list[SecretSpan] = []
        starts, ends = list(range(len(text))), list(range(1, len(text) + 1))
        for _ in range(_LEVELS):
            found += [
                SecretSpan(starts[first], ends[last - 1], name)
                for first, last, name in self._places_in(text)
            ]
            decoded, at = [], 0
            new_starts: list[int] = []
            new_ends: list[int] = []
            for escape in _ESCAPE.finditer(text):
                plain = _undo(escape[0])
                new_starts += [*starts[at : escape.start()], *[starts[escape.start()]] * len(plain)]
                new_ends += [*ends[at : escape.start()], *[ends[escape.end() - 1]] * len(plain)]
                decoded += [text[at : escape.start()], plain]
                at = escape.end()
            if not at:
                break
            text = "".join([*decoded, text[at:]])
            starts, ends = [*new_starts, *starts[at:]], [*new_ends, *ends[at:]]
        apart: list[SecretSpan] = []
        for span in sorted(found, key=lambda each: (each.start, -each.end)):
            if apart and span.start < apart[-1].end:
                held = apart.pop()
                longer = max(held, span, key=lambda each: each.end - each.start)
                span = SecretSpan(held.start, max(held.end, span.end), longer.name)
            apart.append(span)
        return apart

    def _places_in(self, text: str) -> Iterator[tuple[int, int, str]]:
        folded = _fold(text)
        for within, forms in ((folded, self._alike), (text, self._exact)):
            for form, name in forms.items():
                first = within.find(form)
                while first >= 0:
                    last = first + len(form)
                    before, after = self._runs.get(form, (False, False))
                    # What is no base64 at the edges of a run is left out, its padding taken in.
                    start, end = first - before, last + after
                    start += start < 0 or text[start] not in _BASE64
                    end -= end > len(text) or text[end - 1] not in _BASE64
                    while text[end : end + 1] == "=":
                        end += 1
                    yield start, end, name
                    first = within.find(form, first + 1)


def _fold(text: str) -> str:
    """Return a text in lower case and usual width, as long as before."""
    if not text.isascii():
        text = _LOOK_ALIKE.sub(
            lambda sign: chr(ord(sign[0]) - (0xFEE0 if sign[0] < "\U000e0000" else 0xE0000)), text
        )
    folded = text.lower()
    if len(folded) == len(text):
        return folded
    return "".join(low if len(low := each.lower()) == 1 else each for each in text)


def _undo_escapes(text: str) -> str:
    if "%" in text or "\\" in text or "&" in text:
        return _ESCAPE.sub(lambda found: _undo(found[0]), text)
    return text


def _undo(escape: str) -> str:
    """Return the character that an escape stands for."""
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[0] == "%" and escape[1] not in "uU":
        raw = bytes.fromhex(escape.replace("%", ""))
        return raw.decode("latin-1" if len(raw) == 1 else "utf-8", errors="replace")
    if escape[0] == "\\" and escape[1].isdigit():
        return chr(int(escape[1:], 8))
    if escape[0] == "\\" and escape[1] not in "uUxX":
        return _ESCAPED.get(escape[1].lower(), escape[1])
    units = [int(each, 16) for each in re.findall(r"[0-9a-fA-F]{2,}", escape)]
    if len(units) == 2:
        return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be")
    return chr(units[0]) if units and units[0] <= 0x10FFFF else escape


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

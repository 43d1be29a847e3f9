"""Prompts: Markdown files with named sections and slots, known by their content hash.

A file holds one role. A line `# name` starts a section, `{{slot}}` marks a place to fill.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from webagent.errors import SetupError

_SECTION = re.compile(r"^# +(\w+) *$", re.MULTILINE)
_SLOT = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The texts of one role."""

    name: str
    sections: Mapping[str, str]
    hash: str
    """First 16 hex digits of the SHA-256 of the file, slots unfilled."""

    def fill(self, section: str, **slots: str) -> str:
        """Return the section with each slot replaced once; what is put in is never searched for
        slots.

        Raises `SetupError` when the section is missing or its slots and the ones given differ.
        """
        if section not in self.sections:
            known = ", ".join(self.sections)
            raise SetupError(f"prompt {self.name} has no section {section!r}; it has: {known}")
        text = self.sections[section]
        wanted = set(_SLOT.findall(text))
        if wanted != slots.keys():
            raise SetupError(
                f"prompt {self.name}, section {section}: slots {sorted(wanted)} in the file,"
                f" {sorted(slots)} given"
            )
        return _SLOT.sub(lambda match: slots[match[1]], text)


def load_prompt(path: Path) -> Prompt:
    """Read one prompt file. Raises `SetupError` when it is missing or has no sections."""
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(f"cannot read the prompt {path}: {error.strerror}") from error
    parts = _SECTION.split(source)
    names, bodies = parts[1::2], parts[2::2]
    if not names:
        raise SetupError(f"the prompt {path} has no section; expected a line such as '# system'")
    sections = {name: body.strip() for name, body in zip(names, bodies, strict=True)}
    return Prompt(path.stem, sections, _digest(source))


def fence(label: str, text: str) -> str:
    """Return untrusted text between two lines that it cannot contain: they carry its own hash.

    The prompt says that what stands between them is data. A page that writes a closing line of
    its own cannot know the hash that its text, that line included, will have.
    """
    key = _digest(text)[:12]
    return f"<<<{label} {key}\n{text}\n{label} {key}>>>"


_CONTROL = re.compile(
    r"<[|｜][^|｜<>\s]{1,40}[|｜]>|</?s>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<</?SYS>>"
    r"|<(?:start|end)_of_(?:turn|image)>|<(?:bos|eos|pad|unk|mask|image|image_soft_token|video|audio)>"
)
"""Control tokens of common model families, for text whose reader is not known."""


def break_control_tokens(text: str, control: re.Pattern[str] = _CONTROL) -> str:
    """Return the text with a space in each control token, and without what UTF-8 cannot write."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return control.sub(lambda found: f"{found[0][:1]} {found[0][1:]}", plain)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def shorten(text: str, limit: int = 400) -> str:
    """Return the text on one line, cut where it is longer than so many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def estimate_tokens(text: str) -> int:
    """Return an estimate: one for every 3.5 characters."""
    return int(len(text) / 3.5) + 1

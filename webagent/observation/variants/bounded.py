"""Text within a bound, cut at a line, and saying so."""

from collections.abc import Sequence

_CHARACTERS_PER_TOKEN = 3.5


def bounded(lines: Sequence[str], max_tokens: int) -> str:
    """The first lines that fit, tokens estimated at 3.5 characters each; a last line says what was
    left out."""
    budget = int(max_tokens * _CHARACTERS_PER_TOKEN)
    used = 0
    for index, line in enumerate(lines):
        used += len(line) + 1
        if used > budget:
            kept = [*lines[:index], f"... {len(lines) - index} more lines left out"]
            return "\n".join(kept)
    return "\n".join(lines)

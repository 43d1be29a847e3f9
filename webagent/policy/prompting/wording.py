"""How long a text is for a model, and how it is cut to one line."""

_CHARACTERS_PER_TOKEN = 3.5


def line(text: str, limit: int = 400) -> str:
    """The text on one line, cut where it is longer than so many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def tokens_in(text: str) -> int:
    """An estimate: one for every 3.5 characters."""
    return int(len(text) / _CHARACTERS_PER_TOKEN) + 1

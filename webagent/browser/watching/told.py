"""One thing that a person did, as the page or the browser told of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from webagent.records import Observation


@dataclass(frozen=True, slots=True)
class Told:
    """A part of what a person does: several of them may make up one action."""

    what: str
    """In a document: `down`, `up`, `double`, `dropped`, `key`, `typing` (about to), `typed`,
    `chosen`, `ticked`, `files`, `scrolled`. In the browser: `dialog` (answered), `went` (to an
    address), `back`, `forward`, `tab` (another one came to the front), `opened`, `closed`."""
    seen: Observation
    """What the person had before them, as far as it is known."""
    is_fresh: bool = True
    """Whether that is how it was just then; else it is from before what was done last."""
    mark: int = 0
    """Of the element that was meant; 0 where it has none."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """Particulars, by the names in witness.js; of a `dialog` `accepted` and `text`, of `went` the
    `url`, of `tab` the `index`, of `files` their `paths`."""
    rested: Observation | None = None
    """The page as it had come to rest after what was done before, where `seen` is later."""

"""What changed on a page, as a short text from which the new page can be made again."""

import re
from difflib import SequenceMatcher

from webagent.errors import ModelError

NOTHING = "no change"
_HEAD = re.compile(r"@(\d+) -(\d+)")


def line_changes(before: str, after: str) -> str:
    """The lines that differ: `@3 -2` stands for "from line 3 on, 2 lines go", and the lines that
    come in their place follow with a `+`."""
    old, new = before.split("\n"), after.split("\n")
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    said: list[str] = []
    for tag, start, stop, first, last in matcher.get_opcodes():
        if tag != "equal":
            said.append(f"@{start + 1} -{stop - start}")
            said.extend(f"+{line}" for line in new[first:last])
    return "\n".join(said) or NOTHING


def apply_changes(before: str, changes: str) -> str:
    """The text after the changes. Raises `ModelError` for what `line_changes` would not write."""
    old = before.split("\n")
    if changes == NOTHING:
        return before
    new: list[str] = []
    done, started = 0, False
    for line in changes.split("\n"):
        head = _HEAD.fullmatch(line)
        if head:
            start, gone = int(head[1]) - 1, int(head[2])
            if not done <= start <= start + gone <= len(old):
                raise ModelError(f"{line!r} is not a change of the {len(old) - done} lines left")
            new += old[done:start]
            done, started = start + gone, True
        elif started and line.startswith("+"):
            new.append(line[1:])
        else:
            raise ModelError(f"expected a line such as @3 -2, or +text after it; got {line[:40]!r}")
    return "\n".join([*new, *old[done:]])

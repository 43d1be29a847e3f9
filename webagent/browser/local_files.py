"""Files of this machine, which an agent opens only where its task begins among them."""

import re
from urllib.parse import unquote, urlsplit

from webagent.action import Action
from webagent.action.actions import Goto

_LOCAL = re.compile(r"\s*(view-source:\s*)?(?=(file|filesystem):)", re.IGNORECASE)
_REFUSED = (
    "refused: files of this machine are opened only where the task begins in their folder, or by a"
    " guard that allows them"
)


def refuse_file(action: Action, start: str) -> str:
    """Return why the action may not be done in a task that begins at `start`; empty where it may.

    What a page says cannot have the agent read this machine's files and send them on. A guard has
    rules of its own for that.
    """
    url = action.url if isinstance(action, Goto) else ""
    if not _LOCAL.match(url):
        return ""
    found, begun = (urlsplit(_LOCAL.sub("", each).strip()) for each in (url, start))
    folder, path = unquote(begun.path).rpartition("/")[0], unquote(found.path)
    is_plain = found.scheme == begun.scheme == "file" and "/../" not in f"{path}/"
    is_beside = found.netloc == begun.netloc and path.startswith(f"{folder}/")
    return "" if is_plain and is_beside else _REFUSED

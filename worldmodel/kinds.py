"""Kinds of pages: URLs whose variable parts are masked."""

import re
from functools import lru_cache
from urllib.parse import parse_qsl, urlsplit, urlunsplit

GAP = "…"
"""Stands for an unknown part of a text or URL."""
_VARIABLE = re.compile(rf"\d|%|\+|{GAP}|^.{{31,}}$|^[0-9a-f]{{8,}}$")


@lru_cache(65536)
def mask_address(url: str) -> str:
    """Return the URL with its variable parts as `*`: `/catalogue/*?page=*`.

    Local files are identified by their last part.
    """
    parts = urlsplit(url)
    if parts.scheme == "file":
        return "/" + parts.path.rsplit("/", 1)[-1]
    segments = ["*" if _VARIABLE.search(part) else part for part in parts.path.split("/")]
    keys = sorted({key for key, _ in parse_qsl(parts.query, keep_blank_values=True)})
    query = "&".join(f"{key}=*" for key in keys)
    return "/".join(segments).rstrip("/") + (f"?{query}" if query else "") or "/"


def hide_things(url: str) -> str:
    """Return the URL with a gap for each variable part."""
    parts = urlsplit(url)
    path = "/".join(GAP if _VARIABLE.search(each) else each for each in parts.path.split("/"))
    keys = (key for key, _ in parse_qsl(parts.query, keep_blank_values=True))
    query = "&".join(f"{key}={GAP}" for key in keys)
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))

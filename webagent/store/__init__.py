"""The run folder: what happened in a run, safe from the moment it happens."""

from webagent.store.images import ImageFolder
from webagent.store.store import Entry, Kind, Store, Where

__all__ = ["Entry", "ImageFolder", "Kind", "Store", "Where"]

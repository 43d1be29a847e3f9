"""The run folder: what happened in a run, safe from the moment it happens."""

from webagent.store.entry import Entry
from webagent.store.images import ImageFolder
from webagent.store.store import Store
from webagent.store.where import Kind, Where

__all__ = ["Entry", "ImageFolder", "Kind", "Store", "Where"]

"""The run folder: what happened in a run, safe from the moment it happens."""

from webagent.store.database import ImageFolder
from webagent.store.store import EpisodeSummary, Kind, Store, Where

__all__ = ["EpisodeSummary", "ImageFolder", "Kind", "Store", "Where"]

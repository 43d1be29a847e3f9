"""What is brought to an episode from finished ones: the memory of sites."""

from webagent.policy.knowledge.entries import EntryKind, SiteEntry
from webagent.policy.knowledge.learning import Induced, add_example, induce_entries, learn_entries
from webagent.policy.knowledge.similarity import compare_by_words
from webagent.policy.knowledge.site_file import (
    SiteFile,
    credit_entries,
    new_file,
    parse_file,
    read_file,
    read_files,
    site_of,
    write_file,
)
from webagent.policy.knowledge.site_memory import SiteMemory
from webagent.policy.policy import Knowledge

__all__ = [
    "EntryKind",
    "Induced",
    "Knowledge",
    "SiteEntry",
    "SiteFile",
    "SiteMemory",
    "add_example",
    "compare_by_words",
    "credit_entries",
    "induce_entries",
    "learn_entries",
    "new_file",
    "parse_file",
    "read_file",
    "read_files",
    "site_of",
    "write_file",
]

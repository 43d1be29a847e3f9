"""How the scorers of the three benchmarks differ, and which sites they are played on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Setup:
    """What a task file leaves open."""

    sites: Mapping[str, str]
    """Site to base address, as `{"shopping": "http://localhost:7770"}`."""
    rules: str = "published"
    """`published`: as the official scorer; `corrected`: where that is known to be wrong, not."""
    only: Collection[str] = ()
    """Sites that are there: tasks that need another are left out. Empty: all tasks."""
    shop_admin: tuple[str, str] = ("admin", "admin1234")
    """Account that the scorer asks the shop for orders and reviews with; as published."""

    def __post_init__(self) -> None:
        if self.rules not in ("published", "corrected"):
            raise ValueError(f"no rules {self.rules!r}; there are published and corrected")

    @property
    def is_corrected(self) -> bool:
        """Whether the corrected rules are used where there are any."""
        return self.rules == "corrected"


@dataclass(frozen=True, slots=True)
class Dialect:
    """One benchmark's scorer, as the names of its rules."""

    benchmark: str
    version: int
    answer_rules: Mapping[str, str]
    """Key of `reference_answers` to rule."""
    page_rules: Mapping[str, str]
    """Key of `required_contents` to rule, in the order in which the scorer looks for them; it
    makes the first."""
    url_rules: Mapping[str, str]
    """`url_note` to rule."""
    url_note: str
    """Where a task has none."""
    unachievable_rule: str
    corrected: Mapping[str, str] = field(default_factory=dict)
    """Rule to the corrected one."""
    takes_single_texts: bool = False
    """Whether a fuzzy match may have one text in place of a list."""
    reads_text_as_list: tuple[str, ...] = ()
    """Keys of `reference_answers` under which one text is read as a list of it."""
    joins_page_texts: bool = False
    """Whether a fuzzy match of a page has a list of texts, which are compared as one."""
    id_key: str = "task_id"
    """Key of the number that a task goes by."""
    kinds: tuple[str, ...] = ()
    """Keys of the words that a task is sorted by, as its difficulty."""

    def rule(self, name: str, setup: Setup) -> str:
        """The rule that is used for the published one."""
        return self.corrected.get(name, name) if setup.is_corrected else name

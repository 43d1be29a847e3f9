"""The memory of sites, a folder with a file for each, as `Knowledge` of an episode.

Rules are shown on their site. Examples are whole episodes that went well, on whatever site: after
"Synapse: Trajectory-as-Exemplar Prompting with Memory" (Zheng et al. 2023, arXiv 2306.07863), and
"AdaptAgent" (Verma et al. 2024, arXiv 2411.13451): one or two are enough. Everything is chosen once
for an episode, by its task and its first page, so that its prompts begin alike.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tasks.task import Task
from webagent.errors import SetupError
from webagent.models.prompt import estimate_tokens, fence, load_prompt, shorten
from webagent.observation.variants.pruned import prune
from webagent.policy.knowledge.entries import SiteEntry
from webagent.policy.knowledge.similarity import compare_by_words
from webagent.policy.knowledge.site_file import SiteFile, read_files, site_of
from webagent.records import Observation

SITE_MEMORY_PROMPT = load_prompt(Path(__file__).parents[1] / "prompts" / "site_memory.md")
_MAX_RULE = 400
_RULE_TOKENS, _EXAMPLE_TOKENS, _EXAMPLES = 600, 1500, 2
"""Estimated tokens of the rules in a prompt, those of all examples, and examples at most."""
_PAGE_TOKENS = 1000
_PAGE_SHARE = 0.3
"""How much the likeness of the first page counts beside that of the task."""
_REMEMBERED = 256
"""Answers kept, so that episodes under way are not searched for again at every turn."""


class SiteMemory:
    """Files of sites as they were when they were read, so that a run sees the same throughout.

    Retired entries are not shown, and nothing from an episode of the very task and seed at hand, in
    whatever version of the task.
    """

    def __init__(self, files: Mapping[str, SiteFile]) -> None:
        """`files` by site."""
        self.files, self.prompt = dict(files), SITE_MEMORY_PROMPT
        self._recalled: dict[tuple[str, int, str, str, str], str] = {}
        self._examples = _Similar(
            tuple(
                entry
                for file in self.files.values()
                for entry in file.of_kind("examples")
                if not entry.is_retired
            )
        )

    @classmethod
    def read(cls, folder: Path) -> "SiteMemory":
        """Return a folder's files. Raises `SetupError` for one without sense or entry."""
        files = read_files(folder)
        if not any(file.entries for file in files.values()):
            raise SetupError(
                f"{folder} holds no entry on any site; write some first: webagent memory RUN"
                f" --site-memory {folder}, or leave it out"
            )
        return cls(files)

    def check_sites(self, addresses: Sequence[str]) -> None:
        """Raise `SetupError` where nothing is known of any of the sites at these addresses, and no
        example might help there."""
        sites = dict.fromkeys(map(site_of, addresses))
        shown = [
            site
            for site, file in self.files.items()
            if any(not entry.is_retired for entry in file.entries)
        ]
        if set(sites) & set(shown) or self._examples.entries:
            return
        raise SetupError(
            f"the site memory knows {', '.join(shown) or 'nothing that is not retired'}, and the"
            f" tasks are on {', '.join(list(sites)[:3])}{' …' * (len(sites) > 3)}; a file is named"
            " after its site, such as shop.example.md, and learnt from episodes there"
        )

    def recall(self, task: Task, goal: str, first: Observation) -> str:
        """Return what is known that may help with the task; empty for nothing."""
        site = site_of(first.url or task.start_url)
        key = (task.id, task.seed, goal, site, prune(first, _PAGE_TOKENS))
        if key in self._recalled:
            return self._recalled[key]
        if len(self._recalled) >= _REMEMBERED:
            self._recalled.clear()
        file = self.files.get(site)
        parts = []
        if file and (rules := format_rules(file, _RULE_TOKENS)):
            parts.append(self.prompt.fill("rules", rules=fence("hints", rules)))
        if chosen := self.find_examples(task, goal, first):
            room = _EXAMPLE_TOKENS // len(chosen)
            # The best one last, next to the task.
            shown = []
            for each in reversed(chosen):
                head, lines, left_out = f"Task: {each.text}", list(each.lines), 0
                while lines and estimate_tokens("\n".join([head, *lines])) > room:
                    lines.pop(len(lines) // 2)
                    left_out += 1
                if left_out:
                    lines.insert(len(lines) // 2, f"({left_out} lines left out)")
                shown.append(fence("episode", "\n".join([head, *lines])))
            parts.append(self.prompt.fill("examples", episodes="\n\n".join(shown)))
        self._recalled[key] = text = "\n\n".join(parts)
        return text

    def find_examples(self, task: Task, goal: str, first: Observation) -> list[SiteEntry]:
        """Return the examples of tasks and pages like these, of whatever site, the best first; the
        same for the same task and page."""
        at_hand = task.id.partition("@")[0], task.seed
        others = (
            entry
            for entry in self._examples.ranked(goal, prune(first, _PAGE_TOKENS))
            if (entry.task.partition("@")[0], entry.seed) != at_hand
        )
        return list(others)[:_EXAMPLES]


class _Similar:
    """Entries that are found by the task they are about and by what they say."""

    def __init__(self, entries: tuple[SiteEntry, ...]) -> None:
        self.entries = tuple(sorted(entries, key=lambda entry: (entry.sources, entry.id)))
        self._goals = compare_by_words([each.text for each in self.entries])
        self._lines = compare_by_words(["\n".join(each.lines) for each in self.entries])

    def ranked(self, goal: str, page: str) -> list[SiteEntry]:
        """Return those that are at all alike, the most similar first."""
        scores = [
            (1 - _PAGE_SHARE) * a + _PAGE_SHARE * b
            for a, b in zip(self._goals(goal), self._lines(page), strict=True)
        ]
        order = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
        return [self.entries[place] for place in order if scores[place] > 0]


def format_rules(file: SiteFile, max_tokens: int) -> str:
    """Return the rules with their numbers, the best first, and how many did not fit."""
    ranked = [entry for entry in file.ranked("rules") if not entry.is_retired]
    lines: list[str] = []
    for rule in ranked:
        lines.append(f"- [{rule.id}] {shorten(rule.text, _MAX_RULE)}")
        if estimate_tokens("\n".join(lines)) > max_tokens:
            return "\n".join([*lines[:-1], f"({len(ranked) - len(lines) + 1} hints left out)"])
    return "\n".join(lines)

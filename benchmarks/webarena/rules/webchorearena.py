"""WebChoreArena's checks as its scorer makes them: WebArena's, with shares instead of all or none.

Source: `AgentOccam/evaluation_harness/evaluators.py` of github.com/WebChoreArena/WebChoreArena
(Apache-2.0, commit e612218), read for its behaviour. The rest is as in `webarena`.
"""

from collections.abc import Mapping

from benchmarks.webarena.rules.webarena import (
    OR,
    clean,
    gold_in_pred,
    includes_all,
    page_holds,
    page_text,
    text_of,
    texts_of,
)
from benchmarks.webarena.rules.words import words
from evaluators.evaluator import Verdict
from evaluators.rules.rule import rule
from tasks.task import Json

_OR = " |or| "
"""As an expected text has it once it is cleaned."""


@rule
def webchorearena_must_include(found: Json, expected: Json) -> Verdict:
    """The share of the items of which one alternative stands in the answer."""
    answer, items = clean(clean(text_of(found))), texts_of(expected)
    return _share({item: _is_included(item, answer, tokenize=len(items) == 1) for item in items})


@rule
def webchorearena_url_match(found: Json, expected: Json) -> bool:
    """`webarena_url_match` in lower case."""
    alternatives = text_of(expected).split(OR)
    return gold_in_pred(text_of(found).lower(), OR.join(map(str.lower, alternatives)))


@rule
def webchorearena_page_must_include(found: Json, expected: Json) -> Verdict:
    """The share of the items of which one alternative stands in what was selected."""
    return _share(page_holds(page_text(found), texts_of(expected)))


def _share(included: Mapping[str, bool]) -> Verdict:
    share = sum(included.values()) / len(included) if included else 1.0
    return Verdict(share, includes_all(included).reason)


def _is_included(item: str, answer: str, *, tokenize: bool) -> bool:
    wanted = clean(item)
    if _OR not in wanted:
        single = tokenize and len(wanted) == 1 and len(words(wanted)) == 1
        return wanted in (words(answer) if single else answer)
    for part in map(str.strip, wanted.split(_OR)):
        if tokenize and len(part) == 1 and len(words(part)) == 1:
            # The scorer looks for such an alternative in itself.
            return True
        if part in answer:
            return True
    return False

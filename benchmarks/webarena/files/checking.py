"""A task's `eval` as checks, one for each comparison that its scorer makes."""

from collections.abc import Iterator

from benchmarks.webarena.files.dialect import Dialect, Setup
from benchmarks.webarena.files.probing import Probing
from benchmarks.webarena.files.schema import Entry
from tasks.task import Check, Json

SAID = "episode.said"
URL = "episode.url"

SIMILAR = 0.8
"""Threshold of likeness where a picture query has none."""

_EVAL_KEYS = {
    "eval_types",
    "reference_answers",
    "reference_url",
    "program_html",
    "page_image_query",
    "string_note",
    "url_note",
    "reference_answer_raw_annotation",
    "annotation_note",
    "price_calculation",
}
_TARGET_KEYS = {"url", "locator", "required_contents", "prep_actions"}
_QUERY_KEYS = {
    "eval_image_url",
    "eval_image_class",
    "eval_vqa",
    "eval_fuzzy_image_match",
    "ssim_threshold",
}
_TYPES = ("string_match", "url_match", "program_html", "page_image_query")


class Checking:
    """Makes the checks of one task, and with them its probes."""

    def __init__(self, dialect: Dialect, setup: Setup, evaluation: Entry) -> None:
        evaluation.allow(_EVAL_KEYS)
        self.probing = Probing(setup, evaluation.place)
        self._dialect = dialect
        self._setup = setup
        self._eval = evaluation

    def checks(self) -> tuple[Check, ...]:
        """All of them, in the order of `eval_types`. Raises `UnreadableTasks`."""
        made = {
            "string_match": self._answer,
            "url_match": self._url,
            "program_html": self._pages,
            "page_image_query": self._pictures,
        }
        kinds = self._eval.texts("eval_types")
        if not kinds or not set(kinds) <= set(_TYPES):
            raise self._eval.wrong("eval_types", f"some of {', '.join(_TYPES)}")
        return tuple(check for kind in kinds for check in made[kind]())

    def _check(self, evidence: str, rule: str, expected: Json) -> Check:
        return Check(evidence, self._dialect.rule(rule, self._setup), expected)

    def _answer(self) -> Iterator[Check]:
        answers, rules = self._eval.inner("reference_answers"), self._dialect.answer_rules
        answers.allow(set(rules))
        if not answers.values:
            raise self._eval.wrong("reference_answers", f"some of {', '.join(rules)}")
        for key, value in answers.values.items():
            if key == "fuzzy_match" and value == "N/A":
                yield self._unachievable(answers)
            elif key == "exact_match":
                yield self._check(SAID, rules[key], answers.text(key))
            elif (
                key == "fuzzy_match" and isinstance(value, str) and self._dialect.takes_single_texts
            ):
                yield self._check(SAID, rules[key], value)
            elif key in self._dialect.reads_text_as_list and isinstance(value, str):
                yield self._check(SAID, rules[key], [value])
            else:
                yield self._check(SAID, rules[key], [*answers.texts(key)])

    def _unachievable(self, answers: Entry) -> Check:
        if len(answers.values) > 1:
            raise answers.wrong("fuzzy_match", "N/A alone, as it would overrule the others")
        rule = self._dialect.unachievable_rule
        return self._check(SAID, rule, self._eval.text("string_note", ""))

    def _url(self) -> Iterator[Check]:
        rules, note = self._dialect.url_rules, self._eval.text("url_note", self._dialect.url_note)
        if note not in rules:
            raise self._eval.wrong("url_note", " or ".join(rules))
        yield self._check(URL, rules[note], self._eval.text("reference_url"))

    def _pages(self) -> Iterator[Check]:
        for target in self._eval.inners("program_html"):
            target.allow(_TARGET_KEYS)
            contents, rules = target.inner("required_contents"), self._dialect.page_rules
            contents.allow(set(rules))
            asked = [key for key in rules if key in contents.values]
            if not asked:
                raise target.wrong("required_contents", f"one of {', '.join(rules)}")
            found = self.probing.selected(target)
            for key in asked if self._setup.is_corrected else asked[:1]:
                yield self._check(found, rules[key], self._contents(contents, key))

    def _contents(self, contents: Entry, key: str) -> Json:
        if key == "fuzzy_match" and self._dialect.joins_page_texts:
            return [", ".join(contents.texts(key))]
        if key in ("exact_match", "fuzzy_match"):
            return contents.text(key)
        return [*contents.texts(key)]

    def _pictures(self) -> Iterator[Check]:
        """The published scorer forgets what came of a query once there is another after it."""
        queries = self._eval.inners("page_image_query")
        for query in queries:
            query.allow(_QUERY_KEYS)
            found = self.probing.pictures(query)
            made = [*self._query(query, found)]
            if not made:
                raise query.wrong("eval_vqa", "questions, or eval_fuzzy_image_match beside it")
            if query is queries[-1] or self._setup.is_corrected:
                yield from made
            else:
                yield self._check(found, "visualwebarena_pictures", True)

    def _query(self, query: Entry, found: str) -> Iterator[Check]:
        for asked in query.inners("eval_vqa"):
            expected: Json = {"question": asked.text("question"), "answer": asked.text("answer")}
            yield self._check(found, "visualwebarena_picture_answer", expected)
        if "eval_fuzzy_image_match" in query.values:
            names = query.text("eval_fuzzy_image_match").split(" |OR| ")
            references: list[Json] = [self.probing.reference(name) for name in names]
            threshold = query.number("ssim_threshold", SIMILAR)
            yield self._check(
                found,
                "visualwebarena_same_picture",
                {"references": references, "threshold": threshold},
            )

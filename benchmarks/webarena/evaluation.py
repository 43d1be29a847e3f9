"""A task's `eval` as checks, one for each comparison that its scorer makes, and their probes."""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from benchmarks.catalogue import AddressError
from benchmarks.task_files import FileEntry
from benchmarks.webarena import scripts
from benchmarks.webarena.schema import ScorerRules, Setup
from tasks.task import Json, Probe, TaskCheck

PREFIX = "func:"

OnPage: TypeAlias = Callable[..., str]
"""Arguments to the script that runs on the target's page."""

ON_PAGE: Mapping[str, tuple[OnPage, int]] = {
    "get_query_text": (scripts.query_text, 1),
    "get_query_text_lowercase": (scripts.query_text_lowercase, 1),
    "gitlab_get_project_memeber_role": (scripts.member_role, 1),
    "reddit_get_latest_comment_content_by_username": (scripts.latest_comment, 1),
    "reddit_get_parent_comment_username_of_latest_comment_by_username": (scripts.answered_user, 1),
    "shopping_get_num_reviews": (scripts.review_count, 0),
    "shopping_get_order_product_name_list": (scripts.ordered_names, 0),
    "shopping_get_order_product_option": (scripts.ordered_option, 2),
    "shopping_get_order_product_quantity": (scripts.ordered_quantity, 1),
    "shopping_get_product_attributes": (scripts.product_attributes, 1),
    "shopping_get_product_price": (scripts.product_price, 0),
    "shopping_get_rating_as_percentage": (scripts.rating_percentage, 0),
}
"""Helper to its script, and how many arguments it takes after the page."""

REVIEW_FIELDS: Mapping[str, str] = {
    "shopping_get_sku_latest_review_author": "nickname",
    "shopping_get_sku_latest_review_rating": "percent",
    "shopping_get_sku_latest_review_text": "detail",
}
"""Helper that asks the shop, to the field of a review that it gives."""

LATEST_ORDER = "shopping_get_latest_order_url"
POST_URL = "reddit_get_post_url"

_PAGE = "__page__"


def parse_call(entry: FileEntry, key: str) -> tuple[str, list[str]]:
    """Name and arguments of the call under the key, the page left out.

    Raises `UnreadableTasks` for what is not a call of texts.
    """
    wrong = entry.wrong(key, "a call of a helper, as func:get_query_text(__page__, '.title')")
    try:
        call = ast.parse(entry.text(key).removeprefix(PREFIX).strip(), mode="eval").body
    except SyntaxError as error:
        raise wrong from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.keywords:
        raise wrong
    arguments = []
    for argument in call.args:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            arguments.append(argument.value)
        elif not (isinstance(argument, ast.Name) and argument.id == _PAGE):
            raise wrong
    return call.func.id, arguments


LAST = "last"
"""The page that the agent left in front, in place of an address."""


class Probing:
    """The probes of one task, in the order in which they are looked at."""

    def __init__(self, setup: Setup, place: str) -> None:
        self.probes: list[Probe] = []
        self._setup = setup
        self._place = place

    def selected(self, target: FileEntry) -> str:
        """Name of the probe that sees what the target's locator selects."""
        locator = target.text("locator").strip()
        if locator.startswith(PREFIX):
            name, arguments = parse_call(target, "locator")
            if name in REVIEW_FIELDS and len(arguments) == 1:
                shop, account = self._shop(), self._setup.shop_admin
                script = scripts.latest_review(shop, account, arguments[0], REVIEW_FIELDS[name])
                return self._add(Probe("review", url=shop, script=script))
            make, count = ON_PAGE.get(name, (None, 0))
            if make is None or len(arguments) != count:
                known = ", ".join([*ON_PAGE, *REVIEW_FIELDS])
                raise target.wrong("locator", f"one of the helpers {known} with its arguments")
            url = self._url(target, "url")
            return self._add(Probe("found", url=url, script=make(*arguments)))
        url = self._url(target, "url")
        actions = target.texts("prep_actions") if "prep_actions" in target.values else []
        prepare = tuple(map(scripts.prepared, actions))
        if not locator:
            return self._add(Probe("page", "source", url, prepare=prepare))
        if locator.startswith(("document.", "[...document.")):
            script = scripts.located(locator)
        elif locator.startswith("lambda:"):
            script = scripts.computed(locator.removeprefix("lambda:"))
        else:
            raise target.wrong("locator", "document.…, [...document.…, lambda:…, func:… or nothing")
        return self._add(Probe("found", url=url, script=script, prepare=prepare))

    def pictures(self, query: FileEntry) -> str:
        """Name of the probe that sees the pictures a query is about."""
        locator = query.text("eval_image_class").strip()
        if locator and not locator.startswith("."):
            raise query.wrong("eval_image_class", "a CSS class, as .item-photos, or nothing")
        script = scripts.pictured(locator) if locator else ""
        return self._add(Probe("pictures", "pictures", self._url(query, "eval_image_url"), script))

    def reference(self, picture: str) -> str:
        """Name of the probe that sees a reference picture; the picture where no site has it."""
        sites = tuple(f"{address.rstrip('/')}/" for address in self._setup.sites.values())
        if not picture.startswith(sites):
            return picture
        return self._add(Probe("reference", "pictures", picture))

    def _url(self, target: FileEntry, key: str) -> str:
        """Address that a probe is opened at; empty for the page in front."""
        url = target.text(key).strip()
        if url == LAST:
            return ""
        if not url.startswith("func"):
            if not url.startswith(("http://", "https://")):
                raise target.wrong(key, "an address, last or func:…")
            return url
        call = parse_call(target, key)
        if call == (LATEST_ORDER, []):
            shop = self._shop()
            script = scripts.latest_order(shop, self._setup.shop_admin)
            return f"{{{self._add(Probe('order', url=shop, script=script))}}}"
        if call == (POST_URL, ["__last_url__"]):
            return f"{{{self._add(Probe('post', script=scripts.POST_URL))}}}"
        raise target.wrong(key, f"{LATEST_ORDER}() or {POST_URL}('__last_url__')")

    def _shop(self) -> str:
        if "shopping" not in self._setup.sites:
            raise AddressError(f"{self._place}: asks the shop; expected 'shopping' among the sites")
        return self._setup.sites["shopping"].rstrip("/")

    def _add(self, probe: Probe) -> str:
        """Add a probe where there is no such one yet; return its name, a kind and a number."""
        for known in self.probes:
            if replace(known, name=probe.name) == probe:
                return known.name
        number = sum(known.name.startswith(f"{probe.name}_") for known in self.probes)
        self.probes.append(replace(probe, name=f"{probe.name}_{number}"))
        return self.probes[-1].name


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

    def __init__(self, dialect: ScorerRules, setup: Setup, evaluation: FileEntry) -> None:
        evaluation.allow(_EVAL_KEYS)
        self.probing = Probing(setup, evaluation.place)
        self._dialect = dialect
        self._eval = evaluation

    def checks(self) -> tuple[TaskCheck, ...]:
        """Return all checks, in the order of `eval_types`. Raises `UnreadableTasks`."""
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

    def _answer(self) -> Iterator[TaskCheck]:
        answers, rules = self._eval.inner("reference_answers"), self._dialect.answer_rules
        answers.allow(set(rules))
        if not answers.values:
            raise self._eval.wrong("reference_answers", f"some of {', '.join(rules)}")
        for key, value in answers.values.items():
            if key == "fuzzy_match" and value == "N/A":
                if len(answers.values) > 1:
                    raise answers.wrong("fuzzy_match", "N/A alone, as it would overrule the others")
                note = self._eval.text("string_note", "")
                yield TaskCheck(SAID, self._dialect.unachievable_rule, note)
            elif key == "exact_match":
                yield TaskCheck(SAID, rules[key], answers.text(key))
            elif (
                self._dialect.takes_single_texts and isinstance(value, str) and key == "fuzzy_match"
            ):
                yield TaskCheck(SAID, rules[key], value)
            elif key in self._dialect.reads_text_as_list and isinstance(value, str):
                yield TaskCheck(SAID, rules[key], [value])
            else:
                yield TaskCheck(SAID, rules[key], [*answers.texts(key)])

    def _url(self) -> Iterator[TaskCheck]:
        rules, note = self._dialect.url_rules, self._eval.text("url_note", self._dialect.url_note)
        if note not in rules:
            raise self._eval.wrong("url_note", " or ".join(rules))
        yield TaskCheck(URL, rules[note], self._eval.text("reference_url"))

    def _pages(self) -> Iterator[TaskCheck]:
        for target in self._eval.inners("program_html"):
            target.allow(_TARGET_KEYS)
            contents, rules = target.inner("required_contents"), self._dialect.page_rules
            contents.allow(set(rules))
            keys = [key for key in rules if key in contents.values]
            if not keys:
                raise target.wrong("required_contents", f"one of {', '.join(rules)}")
            key = keys[0]
            expected: Json
            if key == "fuzzy_match" and self._dialect.joins_page_texts:
                expected = [", ".join(contents.texts(key))]
            elif key in ("exact_match", "fuzzy_match"):
                expected = contents.text(key)
            else:
                expected = [*contents.texts(key)]
            yield TaskCheck(self.probing.selected(target), rules[key], expected)

    def _pictures(self) -> Iterator[TaskCheck]:
        """Make the checks of pictures. The published scorer forgets all queries but the last."""
        queries = self._eval.inners("page_image_query")
        for query in queries:
            query.allow(_QUERY_KEYS)
            found = self.probing.pictures(query)
            made = []
            for item in query.inners("eval_vqa"):
                expected: Json = {"question": item.text("question"), "answer": item.text("answer")}
                made.append(TaskCheck(found, "visualwebarena_picture_answer", expected))
            if "eval_fuzzy_image_match" in query.values:
                names = query.text("eval_fuzzy_image_match").split(" |OR| ")
                references: list[Json] = [self.probing.reference(name) for name in names]
                threshold = query.number("ssim_threshold", SIMILAR)
                alike: Json = {"references": references, "threshold": threshold}
                made.append(TaskCheck(found, "visualwebarena_same_picture", alike))
            if not made:
                raise query.wrong("eval_vqa", "questions, or eval_fuzzy_image_match beside it")
            if query is queries[-1]:
                yield from made
            else:
                yield TaskCheck(found, "visualwebarena_pictures", True)

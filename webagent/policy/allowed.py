"""The replies that are a valid action on a page, as a constraint to sample under.

Free text inside a grammar is bounded so that it ends within a number of tokens of any tokenizer.
Every token spells a byte or more, so text of n bytes takes n tokens at most, whatever spells it.
Text in plain ASCII is bounded by tokens themselves: it may be cut after any of them. Where a cut
could fall into the middle of a character or an escape, each character counts as many bytes as the
widest one of the text. No text holds `</`, so that no reply holds `</think>`, up to which replies
are taken for private.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from itertools import product, takewhile
from math import inf, prod
from typing import Any, Literal, get_args, get_origin, get_type_hints

from webagent.action import ACTIONS, ESSENTIAL, Action
from webagent.action.actions import ACTION_NAMES, CustomAction
from webagent.action.grammar import count_needed
from webagent.errors import PolicyError, SetupError, unknown_name
from webagent.models.model import Constraint
from webagent.policy.past_actions import MAY_MEAN_THE_PAGE, marks_of
from webagent.records import Observation

_MAX_PLAIN_TOKENS = 600
"""Of a string in ASCII. An action of more than 20,000 characters is not read, and grammars offer no
token of more than 32 bytes; to count the characters themselves would make a mask cost 20 times as
much."""
_LINE = r"[ -;=-~]|<[ -.0-;=-~]"
_ENDLESS_LINE = r"([^\x00-\x1f<]|<[^\x00-\x1f<\/])*"
_QUOTED = r"[ !#-;=-\[\]-~]|<[ !#-.0-;=-\[\]-~]"
_ESCAPE = r'\\["\\bfnrt]'
_LONG_ESCAPE = r"\\u00(0[0-7bef]|1[0-9a-f]|3c)"
_WIDE = {2: r"[\u0080-\u07ff]", 3: r"[\u0080-\uffff]", 4: r"[\u0080-\U0010ffff]"}
"""Characters of at most so many bytes in UTF-8, ASCII left out."""
_THOUGHT, _ACTION = "Thought: ", "Action: "
_MAX_CHOICES = 256
"""Replies that are listed, to be compiled within five milliseconds; more of them are a grammar."""
_TEXT_TOKENS = 2_000
"""For a text inside an action where nothing else bounds it."""
_MIN_TOKENS = 16
"""For a thought and for a text, below which they are not worth sampling."""
_MAX_ITEMS = 8
"""Of a list of texts."""
_MAX_CLICKS = 3
_KEY = r'KEY: /"([ !#-\[\]-~]|\\["\\]){1,32}"/'
_PIXELS = "PIXELS: /0|-?[1-9][0-9]{0,3}/"
_SOME = "SOME: /0|[1-9][0-9]{0,3}/"
"""A place in a viewport, or among tabs, of which nothing is known."""
_ANY_NUMBER = "ANY_NUMBER: /0|-?[1-9][0-9]{0,7}/"
_OF_THE_PAGE = ("mark", "x", "y", "index")
"""What numbers of a function of one's own mean as they do in other actions."""
_MILLISECONDS = "MILLISECONDS: /0|[1-9][0-9]{0,4}/"
_QUOTED_TEXT = r'quoted_text: "\"" text "\""'
_QUOTED_TEXTS = rf'quoted_texts: "[" (quoted_item (", " quoted_item){{0,{_MAX_ITEMS - 1}}})? "]"'
_QUOTED_ITEM = r'quoted_item: "\"" item "\""'


@dataclass(frozen=True, slots=True)
class _Blank:
    """One argument: its line in the grammar, and all that it can be where that is listed."""

    line: str
    longest: int
    """Bytes, those of free text left out."""
    choices: tuple[str, ...] = ()
    texts: int = 0
    """How many free texts it holds at most."""

    @property
    def rule(self) -> str:
        """Its name in the grammar."""
        return self.line.partition(":")[0]


@dataclass(frozen=True, slots=True)
class _Form:
    """One action with its blanks to fill."""

    lead: tuple[str, ...]
    """What stands before them, such as `click(`, in parts: a grammar reads the longest literal, so
    that none may begin as another one does."""
    blanks: tuple[_Blank, ...]
    needed: int
    """How many of them are never left out; the others may follow one after the other."""

    @property
    def longest(self) -> int:
        """Bytes, those of free text left out."""
        commas = len(", ") * max(0, len(self.blanks) - 1)
        return len("".join(self.lead) + ")") + commas + sum(blank.longest for blank in self.blanks)

    @property
    def count(self) -> float:
        """How many actions it makes; infinity where they are not listed."""
        sizes = [len(blank.choices) or inf for blank in self.blanks]
        return sum(prod(sizes[:end]) for end in range(self.needed, len(sizes) + 1))

    @property
    def texts(self) -> int:
        """How many free texts it holds at most."""
        return max((blank.texts for blank in self.blanks), default=0)

    def actions(self) -> Iterator[str]:
        """Yield every action it makes, plain calls first."""
        lead = "".join(self.lead)
        for end in range(self.needed, len(self.blanks) + 1):
            for filled in product(*(blank.choices for blank in self.blanks[:end])):
                yield f"{lead}{', '.join(filled)})"

    def rule(self) -> str:
        """Return what it is in the grammar."""
        if not self.blanks:
            return json.dumps("".join(self.lead) + ")")
        parts = [
            f'", " {blank.rule}' if place else blank.rule for place, blank in enumerate(self.blanks)
        ]
        further = ""
        for part in reversed(parts[self.needed :]):
            further = f" ({part}{further})?"
        lead = " ".join(map(json.dumps, self.lead))
        return f'{lead} {" ".join(parts[: self.needed])}{further} ")"'


def build_constraint(
    observation: Observation,
    actions: Sequence[str] = ESSENTIAL,
    *,
    thought_tokens: int | None = None,
    max_tokens: int | None = None,
    tried: Sequence[Action] = (),
) -> Constraint:
    """Return the constraint under which every reply is one of these actions on this page.

    A thought comes before the action in one line: of any length, of at most `thought_tokens`, or
    none at all for 0. Within `max_tokens`, the one that ends the reply included, every reply is
    whole whatever the tokenizer: what is not free text counts by its bytes, of which a token spells
    at least one, and free text is bounded in tokens (see above). Where
    `thought_tokens` is not given, the thought gets half of what is left.

    Optional arguments other than texts are offered for actions that were `tried` on this page: a
    comma after the first argument would take the probability of all that the model meant for other
    arguments, so that a weak model always writes `click(7, "right")`.

    Any action may name any mark: whether an element takes a click, a text or a file is for the page
    to say. What is closed is what is sure: the marks, the viewport, the tabs.

    Raises `PolicyError` when none of the actions can be done on this page, `SetupError` for an
    unknown action and when `max_tokens` is too few.
    """
    if unknown := [name for name in actions if name not in ACTIONS]:
        raise unknown_name("action", unknown[0], ACTIONS)
    forms = list[_Form]()
    extended = list[_Form]()
    longest = 0
    for name in dict.fromkeys(actions):
        cls = ACTIONS[name]
        hints = get_type_hints(cls)
        blanks = [_make_blank(field, hints[field.name], cls, observation) for field in fields(cls)]
        whole = tuple(blank for blank in blanks if blank is not None)
        # An action with an argument that can be nothing on this page cannot be done.
        if len(whole) != len(blanks):
            continue
        needed = count_needed(cls)
        longest = max(longest, _Form((f"{name}(",), whole, needed).longest)
        usual = needed + len([*takewhile(lambda blank: blank.texts, whole[needed:])])
        if issubclass(cls, CustomAction):
            usual = len(whole)  # what one's own function takes is not known to be rare
        forms.append(_Form((f"{name}(",), whole[:usual], needed))
        if usual < len(whole):
            here = [a for a in tried if type(a) is cls and all(map(observation.node, marks_of(a)))]
            leads = [_write_needed(each, usual) for each in here]
            extended += (_Form(lead, whole[usual:], 1) for lead in dict.fromkeys(leads))
    room = longest + _MIN_TOKENS * any(form.texts for form in forms)
    forms += (form for form in extended if form.longest <= room)
    if not forms:
        raise PolicyError(
            f"none of the actions {', '.join(actions)} can be done on this page, which has no"
            " element to name; allow one that needs none, such as wait or give_up"
        )
    thought, text = _split_budget(forms, longest, thought_tokens, max_tokens)
    if thought == 0 and sum(form.count for form in forms) <= _MAX_CHOICES:
        return Constraint(tuple(_ACTION + each for form in forms for each in form.actions()))
    return Constraint(grammar=_write_grammar(forms, thought, text))


def _write_needed(action: Action, count: int) -> tuple[str, ...]:
    """Return the call up to the comma after so many arguments, in parts."""
    values = [getattr(action, field.name) for field in fields(action)[:count]]
    written = (part for value in values for part in (json.dumps(value), ", "))
    return f"{ACTION_NAMES[type(action)]}(", *written


def _split_budget(
    forms: Sequence[_Form], longest: int, thought_tokens: int | None, max_tokens: int | None
) -> tuple[int | None, int]:
    """Return the tokens for the thought, without a bound where None, and for a text."""
    if max_tokens is None:
        return thought_tokens, _TEXT_TOKENS
    has_text = any(form.texts for form in forms)
    fixed = len(_ACTION) + longest + 1
    if thought_tokens != 0:
        fixed += len(_THOUGHT) + len("\n")
    thought = _MIN_TOKENS if thought_tokens is None else thought_tokens
    needed = fixed + thought + _MIN_TOKENS * has_text
    if max_tokens < needed:
        raise SetupError(
            f"{max_tokens} tokens may be too few for a whole reply; give at least {needed}"
            + (f" or a shorter thought than {thought} tokens" if thought else "")
        )
    left = max_tokens - fixed
    if thought_tokens is None:
        thought = left // 2 if has_text else left
    return thought, min(_TEXT_TOKENS, left - thought)


def _write_grammar(forms: Sequence[_Form], thought: int | None, text: int) -> str:
    """Return the lines of the grammar, those of its blanks once each."""
    lead = json.dumps(_ACTION)
    lines = [f"start: {lead} action"]
    if thought != 0:
        lead = json.dumps("\n" + _ACTION)
        lines = [f"start: {json.dumps(_THOUGHT)} thought {lead} action"]
        if thought is None:
            lines += ["thought: THOUGHT", f"THOUGHT: /{_ENDLESS_LINE}/"]
        else:
            units = {f"LINE_{width}": f"{_LINE}|{wide}" for width, wide in _WIDE.items()}
            lines += _write_bounded("thought", f"({_LINE})*<?", units, thought, thought)
    lines.append("action: " + "\n  | ".join(form.rule() for form in forms))
    lines += [blank.line for form in forms for blank in form.blanks]
    if _QUOTED_TEXT in lines:
        lines += _write_string_body("text", text)
    if _QUOTED_TEXTS in lines:
        tokens = max(1, text // _MAX_ITEMS)
        lines += [_QUOTED_ITEM, *_write_string_body("item", tokens, _MAX_ITEMS)]
    return "\n".join(dict.fromkeys(lines))


def _make_blank(
    field: Field[Any], hint: Any, cls: type[Action], page: Observation
) -> _Blank | None:
    """Return what an argument may be, by its type and its name."""
    if hint is str and field.name in ("key", "keys"):
        return _Blank(_KEY, longest=2 + 2 * 32)
    if hint is str:
        return _Blank(_QUOTED_TEXT, longest=2, texts=1)
    if get_origin(hint) is tuple:
        return _Blank(_QUOTED_TEXTS, longest=4 * _MAX_ITEMS, texts=_MAX_ITEMS)
    if get_origin(hint) is Literal:
        left_out = field.default if field.name == fields(cls)[-1].name else MISSING
        quoted = tuple(json.dumps(word) for word in get_args(hint) if word != left_out)
        line = f"{field.name.upper()}: " + " | ".join(map(json.dumps, quoted))
        return _Blank(line, max(map(len, quoted)), quoted)
    if hint is bool:
        return _Blank('YES: "True" | "False"', longest=5, choices=("True", "False"))
    if hint is float or (issubclass(cls, CustomAction) and field.name not in _OF_THE_PAGE):
        return _Blank(_ANY_NUMBER, longest=9)
    return _make_integer_blank(field.name, cls, page)


def _make_integer_blank(name: str, cls: type[Action], page: Observation) -> _Blank | None:
    if name in ("dx", "dy"):
        return _Blank(_PIXELS, longest=5)
    if name in ("milliseconds", "start"):
        return _Blank(_MILLISECONDS, longest=5)
    width, height = page.viewport
    if name in ("x", "to_x"):
        return _number("X", range(width)) if width else _Blank(_SOME, longest=4)
    if name in ("y", "to_y"):
        return _number("Y", range(height)) if height else _Blank(_SOME, longest=4)
    if name == "index":
        if len(page.tabs) == 1:
            return None  # there is no other to move to
        return _number("INDEX", range(len(page.tabs))) if page.tabs else _Blank(_SOME, longest=4)
    if name == "count":
        return _number("COUNT", range(1, _MAX_CLICKS + 1))
    marks = {node.mark for node in page.nodes if node.mark}
    if issubclass(cls, MAY_MEAN_THE_PAGE):
        return _number("MARK_OR_PAGE", sorted(marks | {0}))
    return _number("MARK", sorted(marks))


def _number(name: str, numbers: Sequence[int]) -> _Blank | None:
    """Return a blank for one of these numbers; None where there are none."""
    if not numbers:
        return None
    choices = tuple(map(str, numbers)) if len(numbers) <= _MAX_CHOICES else ()
    pattern = _match_tails(frozenset(map(str, numbers)))
    return _Blank(f"{name}: /{pattern}/", len(str(max(numbers))), choices)


def _write_string_body(rule: str, tokens: int, strings: int = 1) -> list[str]:
    """Return the grammar's lines for what stands between the quotes of one of so many strings.

    Each is within so many tokens.

    Spelled as `json.dumps` does without `ensure_ascii`, but for a `<` before a slash, a quote, an
    escape or a character beyond ASCII, which is `\\u003c`; so every text can be said but one with a
    delete character in it.
    """
    units = {f"QUOTED_{width}": f"{_QUOTED}|{_ESCAPE}|{wide}" for width, wide in _WIDE.items()}
    units["QUOTED_6"] = f"{units['QUOTED_4']}|{_LONG_ESCAPE}"
    plain = min(tokens, _MAX_PLAIN_TOKENS // strings)
    return _write_bounded(rule, f"({_QUOTED})*<?", units, tokens, plain)


def _write_bounded(
    rule: str, plain: str, units: dict[str, str], tokens: int, plain_tokens: int
) -> list[str]:
    """Return the grammar's lines for plain text within `plain_tokens`, or units within `tokens`.

    Units are of n bytes by their names. Plain text must be whole after any of its characters.
    """
    name = rule.upper()
    wide = [f"{unit}{{0,{tokens // int(unit[-1])}}}" for unit in units if tokens >= int(unit[-1])]
    return [
        f"{rule}: {rule}_plain" + f" | {name}_WIDE" * bool(wide),
        f"{rule}_plain[max_tokens={plain_tokens}]: {name}_PLAIN",
        f"{name}_PLAIN: /{plain}/",
        *([f"{name}_WIDE: {' | '.join(wide)}"] * bool(wide)),
        *(f"{unit}: /{pattern}/" for unit, pattern in units.items() if wide),
    ]


@lru_cache(maxsize=512)
def _match_tails(tails: frozenset[str]) -> str:
    """Return a regular expression of these digits, grouped by what may follow a digit."""
    after: dict[str, set[str]] = {}
    for tail in tails - {""}:
        after.setdefault(tail[0], set()).add(tail[1:])
    leading: dict[frozenset[str], str] = {}
    for digit in sorted(after):
        rest = frozenset(after[digit])
        leading[rest] = leading.get(rest, "") + digit
    options = []
    for rest, digits in leading.items():
        is_run = int(digits[-1]) - int(digits[0]) == len(digits) - 1
        several = f"[{digits[0]}-{digits[-1]}]" if is_run else f"[{digits}]"
        options.append((several if len(digits) > 1 else digits) + _match_tails(rest))
    if not options:
        return ""
    return f"({'|'.join(options)}){'?' * ('' in tails)}"

"""Free text inside a grammar, bounded so that it ends within a number of tokens of any tokenizer.

Every token spells a byte or more, so text of n bytes takes n tokens at most, whatever spells it.
Text in plain ASCII is bounded by tokens themselves: it may be cut after any of them. Where a cut
could fall into the middle of a character or an escape, each character counts as many bytes as the
widest one of the text.

No text holds `</`, so that no reply holds `</think>`, up to which replies are taken for private.
"""

from functools import lru_cache

_MOST_PLAIN_TOKENS = 600
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


def line_of_text(rule: str, tokens: int | None) -> list[str]:
    """The grammar's lines for text without a line break; `tokens` None is without a bound."""
    if tokens is None:
        return [f"{rule}: {rule.upper()}", f"{rule.upper()}: /{_ENDLESS_LINE}/"]
    units = {f"LINE_{width}": f"{_LINE}|{wide}" for width, wide in _WIDE.items()}
    return _bounded(rule, f"({_LINE})*<?", units, tokens, tokens)


def string_body(rule: str, tokens: int, strings: int = 1) -> list[str]:
    """The grammar's lines for what stands between the quotes of one of so many strings.

    Each is within so many tokens.

    Spelled as `json.dumps` does without `ensure_ascii`, but for a `<` before a slash, a quote, an
    escape or a character beyond ASCII, which is `\\u003c`; so every text can be said but one with a
    delete character in it.
    """
    units = {f"QUOTED_{width}": f"{_QUOTED}|{_ESCAPE}|{wide}" for width, wide in _WIDE.items()}
    units["QUOTED_6"] = f"{units['QUOTED_4']}|{_LONG_ESCAPE}"
    plain = min(tokens, _MOST_PLAIN_TOKENS // strings)
    return _bounded(rule, f"({_QUOTED})*<?", units, tokens, plain)


def _bounded(
    rule: str, plain: str, units: dict[str, str], tokens: int, plain_tokens: int
) -> list[str]:
    """Plain text within its tokens, or units of n bytes, by their names, within as many bytes as
    `tokens`. Plain text must be whole after any of its characters."""
    name = rule.upper()
    wide = [f"{unit}{{0,{tokens // int(unit[-1])}}}" for unit in units if tokens >= int(unit[-1])]
    return [
        f"{rule}: {rule}_plain" + f" | {name}_WIDE" * bool(wide),
        f"{rule}_plain[max_tokens={plain_tokens}]: {name}_PLAIN",
        f"{name}_PLAIN: /{plain}/",
        *([f"{name}_WIDE: {' | '.join(wide)}"] * bool(wide)),
        *(f"{unit}: /{pattern}/" for unit, pattern in units.items() if wide),
    ]


@lru_cache(maxsize=64)
def numerals(numbers: tuple[int, ...]) -> str:
    """A short regular expression of exactly these numbers, none of them below zero."""
    return _tails(frozenset(str(number) for number in numbers))


def _tails(tails: frozenset[str]) -> str:
    """A regular expression of these strings of digits, grouped by what may follow a digit."""
    after: dict[str, set[str]] = {}
    for tail in tails - {""}:
        after.setdefault(tail[0], set()).add(tail[1:])
    leading: dict[frozenset[str], str] = {}
    for digit in sorted(after):
        rest = frozenset(after[digit])
        leading[rest] = leading.get(rest, "") + digit
    options = [_one_of(digits) + _tails(rest) for rest, digits in leading.items()]
    if not options:
        return ""
    return f"({'|'.join(options)}){'?' * ('' in tails)}"


def _one_of(digits: str) -> str:
    if len(digits) == 1:
        return digits
    is_run = int(digits[-1]) - int(digits[0]) == len(digits) - 1
    return f"[{digits[0]}-{digits[-1]}]" if is_run else f"[{digits}]"

"""Numbers written as English words."""

from collections.abc import Sequence

_ONES = "zero one two three four five six seven eight nine".split()  # noqa: SIM905
_TEENS = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()  # noqa: SIM905
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_VALUES = {
    **{word: value for value, word in enumerate(_ONES + _TEENS)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}
_SCALES = ("billion", "million", "thousand")


def number_in_words(text: str) -> float:
    """The number that the number words of the text make, other words being passed over.

    `twenty-three` is 23, `two million and five` is 2000005, `three point one four` is 3.14. Raises
    `ValueError` where there are no such words or they make no number.
    """
    words = [
        word
        for word in text.replace("-", " ").lower().split()
        if (word in _VALUES or word == "point")
    ]
    if not words:
        raise ValueError(f"no number in {text!r}")
    if any(words.count(word) > 1 for word in (*_SCALES, "point")):
        raise ValueError(f"{text!r} has a word of scale twice")
    whole, decimals = words, []
    if "point" in words:
        at = words.index("point")
        whole, decimals = words[:at], words[at + 1 :]
    return _whole(whole) + _decimals(decimals)


def _whole(words: Sequence[str]) -> int:
    if len(words) == 1:
        return _VALUES[words[0]]
    if [word for word in words if word in _SCALES] != [word for word in _SCALES if word in words]:
        raise ValueError(f"{' '.join(words)!r} has its scales out of order")
    total, start = 0, 0
    for scale in _SCALES:
        if scale in words:
            at = words.index(scale)
            total += _group(words[start:at]) * _VALUES[scale]
            start = at + 1
    return total + (_group(words[start:]) if words[start:] else 0)


def _group(words: Sequence[str]) -> int:
    """Up to four words: `two hundred fifty six`, `two hundred six`, `fifty six`, `six`."""
    match [_VALUES[word] for word in words]:
        case []:
            raise ValueError("a word of scale stands without a number before it")
        case [many, hundred, tens, ones]:
            return many * hundred + tens + ones
        case [many, hundred, ones]:
            return many * hundred + ones
        case [first, second]:
            return first * second if 100 in (first, second) else first + second
        case [first, *_]:
            return first
    raise AssertionError("unreachable")


def _decimals(words: Sequence[str]) -> float:
    if not words or any(word not in _ONES for word in words):
        return 0.0
    return float("0." + "".join(str(_VALUES[word]) for word in words))

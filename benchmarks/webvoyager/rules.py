"""Reference answers: those that a rule can compare, and those for which a model is asked.

WebVoyager marks its references `golden` (the only right answer) or `possible` (one of many); GAIA
compares all of its by rule, after https://arxiv.org/abs/2311.12983.
"""

import re
import string
import unicodedata
from pathlib import Path
from typing import NamedTuple

from benchmarks.webarena.rules.consulting import ask_for_verdict
from evaluators.evaluator import Verdict
from evaluators.rules.checks import Quantity, RuleQuestion, consulting_rule, quantities, rule
from tasks.task import Json
from webagent.models.model import Message, Model
from webagent.models.prompt import Prompt, fence, load_prompt

PROMPTS = Path(__file__).parent / "prompts"

_SHARE = re.compile(r"(?<![\d.])(?:0?\.\d+|[01](?:\.\d+)?)(?![\d.])")
_WORDS = re.compile(r"[^\W_]+", re.UNICODE)
_EXACT = 1e-9
_MARKS = dict.fromkeys(map(ord, "™®℠©"))
_HYPHEN = r"[-\u2010-\u2015\u2212\u00ad]"
_WORD_HYPHEN = re.compile(rf"(?<=[a-zA-Z]){_HYPHEN}|{_HYPHEN}(?=[a-zA-Z])")
_ASCII = str.maketrans(
    {
        "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O",
        "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "þ": "th", "Þ": "Th", "ł": "l", "Ł": "L",
        "ı": "i", "ħ": "h", "Ħ": "H", "ŋ": "ng", "Ŋ": "NG", "ŧ": "t", "Ŧ": "T", "ĸ": "k",
        "‘": "'", "’": "'", "‚": ",", "‛": "'", "“": '"', "”": '"', "„": ",,", "‟": '"',
        "′": "'", "‵": "`", "‹": "<", "›": ">", "«": "<<", "»": ">>", "‐": "-", "‑": "-",
        "‒": "-", "–": "-", "—": "--", "―": "--", "−": "-", "•": "*", "·": "*", "⁄": "/",
        "€": "EUR", "£": "PS", "¥": "Y=", "¢": "C/", "₹": "Rs", "¤": "$?", "§": "SS", "¶": "P",
        "°": "deg", "±": "+-", "×": "x", "÷": "/", "¬": "!", "¦": "|", "¡": "!", "¿": "?",
        "†": "+", "‡": "++", "‰": "%0", "←": "-", "↑": "|", "→": "-", "↓": "|",
    }
)  # fmt: skip


@rule
def gaia_answer(found: Json, expected: Json) -> Verdict:
    """The answer as GAIA scores it: a number, a list, or words without spaces and punctuation.

    The whole answer counts; a sentence around the right value is wrong.
    """
    answer, reference = _text(found, "the answer"), _text(expected, "the reference")
    if _float(reference) is None and re.search(r"[,;]", reference):
        wanted, given = re.split(r"[,;]", reference), re.split(r"[,;]", answer)
        pairs = zip(wanted, given, strict=False)
        same = len(wanted) == len(given) and all(_is_same(*pair, ignored="") for pair in pairs)
    else:
        same = _is_same(reference, answer, ignored=string.punctuation)
    return Verdict(float(same), f"{answer!r} {'is' if same else 'is not'} {reference!r}")


@rule
def golden_answer(found: Json, expected: Json) -> Verdict:
    """A golden reference's words in their order somewhere in the answer, or its one number.

    A number has to be there with its unit, to the last digit that the reference gives, and alone:
    where the answer has several numbers that could be meant, the rule abstains.
    """
    answer, reference = _text(found, "the answer"), _text(expected, "the reference")
    if not answer.strip():
        return Verdict(0.0, "no answer was given")
    number = the_number(reference)
    if number is None:
        given, wanted = _words(answer), _words(reference)
        holds = any(given[at : at + len(wanted)] == wanted for at in range(len(given)))
        return Verdict(float(holds), f"the answer {'has' if holds else 'lacks'} {reference!r}")
    quantity = number.quantity
    found_numbers = [one for one in quantities(answer) if one.measure in (quantity.measure, "")]
    fitting = [abs(one.amount - quantity.amount) <= number.room for one in found_numbers]
    if not any(fitting):
        return Verdict(0.0, f"the answer does not contain {reference!r}")
    if not all(fitting):
        numbers = ", ".join(one.text for one in found_numbers)
        return Verdict(None, f"of the numbers {numbers} one is {reference!r}; a judge must decide")
    return Verdict(1.0, f"the answer has {reference!r}")


@consulting_rule
async def reference_answer(question: RuleQuestion) -> Verdict:
    """A model finds that the answer says what the reference says.

    Expected is an object with `reference` and `kind`: a `golden` one is the only right answer, a
    `possible` one an example of many; a `notice` says what else is known.
    """
    expected = question.expected
    if not isinstance(expected, dict) or not isinstance(expected.get("reference"), str):
        raise TypeError(f"expected an object with reference and kind, found {expected!r}")
    kind = expected.get("kind")
    if kind not in ("golden", "possible"):
        raise TypeError(f"a reference is golden or possible, found {kind!r}")
    answer = _text(question.found, "the answer")
    if not answer.strip():
        return Verdict(0.0, "no answer was given")
    prompt = load_prompt(PROMPTS / "reference_answer.md")
    slots = {
        "kind": prompt.fill(str(kind)),
        "task": question.goal,
        "reference": f"{expected['reference']} {expected.get('notice') or ''}".strip(),
        "answer": fence("answer", answer),
    }
    return await asked_share(question.means.model, prompt, slots, whole=True)


async def asked_share(
    model: Model | None, prompt: Prompt, slots: dict[str, str], *, whole: bool = False
) -> Verdict:
    """Return a number from 0 to 1 that the model gives, asked for once more where there is none.

    With `whole` only 0 and 1 are read. Abstains without a model and when it fails.
    """
    if model is None:
        return Verdict(None, f"{prompt.name} asks a model; give one: checks_hold(means=Means(m))")
    messages = [
        Message("system", prompt.fill("system")),
        Message("user", prompt.fill("user", **slots)),
    ]

    def read(text: str) -> Verdict | None:
        lines = ({float(one) for one in _SHARE.findall(line)} for line in text.splitlines())
        shares = next(filter(None, lines), set())  # the first line that has numbers
        if len(shares) != 1 or (whole and not shares <= {0.0, 1.0}):
            return None
        share = shares.pop()
        return Verdict(share, repr(text[:120])) if 0.0 <= share <= 1.0 else None

    return await ask_for_verdict(model, prompt, messages, read, max_tokens=512)


class Given(NamedTuple):
    """The number of a reference: its amount, what is measured, and half of its last digit."""

    quantity: Quantity
    room: float


def the_number(reference: str) -> Given | None:
    """Return the number that a reference is, if one with at most a unit and a word before it."""
    text = reference.strip().rstrip(".")
    text = re.sub(r"^(?:approximately|around|about|roughly|~)\s*", "", text, flags=re.IGNORECASE)
    found = list(quantities(text))
    if len(found) != 1 or found[0].text != text:
        return None
    digits = re.search(r"\d[\d,]*(?:\.(\d+))?|\.(\d+)", text)
    decimals = len((digits[1] or digits[2] or "") if digits else "")
    written = digits[0].replace(",", "") if digits else "1"
    size = abs(found[0].amount / float(written)) if float(written) else 1.0
    room = 0.5 * 10.0**-decimals * size if text != reference.strip().rstrip(".") else 0.0
    return Given(found[0], max(room, _EXACT * abs(found[0].amount)))


def _is_same(reference: str, answer: str, *, ignored: str) -> bool:
    """Return whether numbers are equal, or words without case, spaces and what is ignored."""
    number = _float(reference)
    if number is not None:
        return _float(re.sub(r"[$%,]", "", answer)) == number
    drop = str.maketrans("", "", ignored)
    one, other = (re.sub(r"\s", "", text).lower().translate(drop) for text in (reference, answer))
    return one == other


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _text(value: Json, what: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{what} is {value!r}, expected text")
    return value


def _words(text: str) -> list[str]:
    """Return the words casefolded, in ASCII where they can be; other than Latin letters stay."""
    text = unicodedata.normalize("NFKC", text.translate(_MARKS))
    text = _WORD_HYPHEN.sub(" ", text)
    text = re.sub(r"[\t\n\r]", " ", text)
    text = "".join(x for x in text if not unicodedata.category(x).startswith("C"))
    text = text.translate(_ASCII)
    kept = []
    for letter in unicodedata.normalize("NFKD", text):
        if letter.isascii() or unicodedata.category(letter)[0] in "LN":
            kept.append(letter)
        elif letter.isspace():  # accents and signs without an ASCII form are dropped
            kept.append(" ")
    text = "".join(kept)
    return _WORDS.findall(" ".join(unicodedata.normalize("NFC", text).split()).casefold())

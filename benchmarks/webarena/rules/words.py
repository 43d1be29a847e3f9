"""Words of lower-case English text, split as NLTK's `word_tokenize` (3.9) splits them.

Published scorers decide by its tokens whether a word is in an answer. A sentence is ended as the
English Punkt model ends it (Kiss and Strunk 2006; parameters by Jan Strunk, MIT licence); what that
model knows of lower-case text is its list of abbreviations. Words are then cut as the Penn Treebank
cuts them.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

ABBREVIATIONS = frozenset(
    """
    a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b
    c.v calif chg cie co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f
    f.g f.j feb fla fri ft g g.d g.f g.k ga gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k
    j.p j.r jan jr k kan ky l l.a l.f l.p lt ltd m m.b.a m.d.c m.j maj messrs mg mich minn
    mr mrs ms n n.c n.d n.h n.j n.m n.v n.y nev nov oct ok okla ore p p.a.m p.m pa ph.d prof
    r r.a r.h r.i r.j r.k r.t rep reps s s.a s.a.y s.c s.g s.p.a s.s sen sep sept sr st sw t
    t.j tenn tues u.k u.n u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va w.w wash wed wis yr
    """.split()  # noqa: SIM905
)
"""After these a period ends no sentence."""

OPENS_SENTENCES = frozenset({"administrators", "b-week", "r-revised", "z-holiday"})
"""The lower-case words that the model has seen begin a sentence, and never with a capital."""

_ENDERS = ".?!"
_PAUSES = ";:,.!?"
_APART = r"[)\";}\]*:@'({\[?!]"
_RUN = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_CANDIDATE = re.compile(rf"[.?!](?=(?P<after>{_APART}|\s+(?P<following>\S+)))")
_PIECE = re.compile(
    rf"{_RUN}|(?=[^(\"`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_APART}|{_RUN}|,(?=$|\s|{_APART}|{_RUN}))|\S"
)
_CLOSING = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)", re.MULTILINE)
_INITIAL = re.compile(r"[^\W\d]\.$")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.?$")
_SPACE = " \t\n\r\x0b\x0c"

_CUTS = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # Opening quotation marks, and the apostrophe of a word that is one letter long.
        (r"([«“‘„]|`+)", r" \1 "),
        (r'^"', "``"),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
        (r"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b", r"\1 \2"),
        # Punctuation; a period only where it ends the sentence.
        (r"([^.])(\.)([\])}>\"'»”’ ]*)\s*$", r"\1 \2 \3 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"(\.{2,})", r" \1 "),
        (r"([;@#$%&])", r" \1 "),
        (r"([^.])(\.)([\])}>\"']*)\s*$", r"\1 \2\3 "),
        (r"([?!])", r" \1 "),
        (r"([^'])' ", r"\1 ' "),
        (r"(\*)", r" \1 "),
        (r"([\]\[(){}<>])", r" \1 "),
        (r"(--)", r" \1 "),
        # The text gets a space at either end, for what follows to find words by.
        (r"\A|\Z", " "),
        # Closing quotation marks, and what is written together with an apostrophe.
        (r"([»”’])", r" \1 "),
        (r"''|\"", " '' "),
        (r"\s+", " "),
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        # Two words that are written as one.
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim|lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
)


def words(text: str) -> list[str]:
    """Return the tokens of a lower-case text, punctuation among them."""
    found: list[str] = []
    for sentence in _sentences(text):
        for pattern, replacement in _CUTS:
            sentence = pattern.sub(replacement, sentence)
        found += sentence.split()
    return found


def _sentences(text: str) -> Iterator[str]:
    """Return the sentences, closing marks after a period with the sentence they close."""
    spans, begin = [], 0
    for match, context in _candidates(text):
        pieces = [piece for line in context.split("\n") for piece in _PIECE.findall(line)]
        if any(_breaks(*pair) for pair in pairwise(pieces)):
            spans.append((begin, match.end()))
            begin = match.start("following") if match["following"] else match.end()
    spans.append((begin, len(text.rstrip())))
    taken = 0
    for (start, end), following in zip(spans, [*spans[1:], None], strict=True):
        start += taken
        taken = 0
        closing = _CLOSING.match(text[slice(*following)]) if following else None
        if following and closing:
            yield text[start : following[0] + len(closing[0].rstrip())]
            taken = closing.end()
        elif text[start:end]:
            yield text[start:end]


def _candidates(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Marks that may end a sentence, each with the word before and what comes after it.

    Of several in one word only the last is one.
    """
    last: tuple[re.Match[str], int] | None = None
    word_start = word_end = 0
    for match in _CANDIDATE.finditer(text):
        before = text[word_end : match.start()]
        space = max(map(before.rfind, _SPACE))
        next_start = word_end + space + 1 if space > 0 else word_start
        if last and word_end <= next_start:
            yield last[0], text[word_start : last[0].end()] + last[0]["after"]
        last = match, next_start
        word_start, word_end = next_start, match.start()
    if last:
        yield last[0], text[word_start : last[0].end()] + last[0]["after"]


def _breaks(piece: str, following: str) -> bool:
    """Return whether a sentence ends with this piece."""
    if piece in _ENDERS:
        return True
    if not piece.endswith(".") or piece.endswith(".."):
        return False
    stem = piece[:-1]
    if stem in ABBREVIATIONS or stem.rsplit("-", 1)[-1] in ABBREVIATIONS:
        return False
    if not (_INITIAL.match(piece) or _NUMBER.match(piece)):
        return True
    is_within = following[0].islower() and following.removesuffix(".") not in OPENS_SENTENCES
    return following not in _PAUSES and not is_within

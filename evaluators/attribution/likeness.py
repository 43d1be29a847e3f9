"""How many letters two texts share in order."""

from collections.abc import Iterable


def find_most_similar(text: str, others: Iterable[str], at_least: float) -> str | None:
    """Return the text that shares most letters in order with this one; None below `at_least`.

    The share is 1 less the insertions and deletions between the two over their summed lengths.
    """
    shares = {other: share_of_letters(text, other) for other in others}
    best = max(shares, key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= at_least else None


def share_of_letters(one: str, other: str) -> float:
    """Twice the longest common subsequence over both lengths, by the rows of its table as bits
    (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004)."""
    places = dict.fromkeys(one, 0)
    for place, letter in enumerate(one):
        places[letter] |= 1 << place
    row = whole = (1 << len(one)) - 1
    for letter in other:
        met = row & places.get(letter, 0)
        row = (row + met | row - met) & whole
    length = len(one) - row.bit_count()
    return 2 * length / (len(one) + len(other)) if one or other else 1.0

"""Answers, addresses and page contents near what a task expects: right, nearly right and wrong."""

import html
import random
import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

OR = " |OR| "
WORDS = (
    *("the answer is", "about", "it costs 5. then it rose", "no. 3", "in the u.s. market"),
    *("see fig. 2", "done!", "(of 10)", "which isn't much", "cannot say", "at 3 p.m. or so"),
)


def answers(expected: list[str], others: list[str], rng: random.Random) -> Iterator[str]:
    """Answers made of the expected texts, of one alternative of each where there are several."""
    parts = [rng.choice(text.split(OR)) for text in expected]
    yield from ("", "N/A", "n/a", " 'N/A' ", '"n/a"', "The task cannot be done", rng.choice(others))
    for joint in (", ", " ", "\n", ". ", "; ", " and "):
        yield joint.join(parts)
    whole = ", ".join(parts)
    yield from (whole.upper(), whole.lower(), whole.title(), f" {whole} ", f"{whole}\n")
    for left, right in ("''", '""', ("'\"", "\"'"), "()", "[]", "“”", "$.", "-%", ("", "'s")):
        yield f"{left}{whole}{right}"
        yield ", ".join(f"{left}{part}{right}" for part in parts)
    for _ in range(2):
        yield f"{rng.choice(WORDS)} {whole}. {rng.choice(WORDS)}"
        yield f"{rng.choice(WORDS)}: {' '.join(parts)} {rng.choice(WORDS)}"
        yield f"{whole}{rng.choice('.,:;?!')} {rng.choice(others)}"
    for place in range(min(len(parts), 4)):
        rest = parts[:place] + parts[place + 1 :]
        yield ", ".join(rest)
        yield ", ".join([*parts[:place], rng.choice(others), *parts[place + 1 :]])
        yield ", ".join([*rest, parts[place][:-1]])
        yield ", ".join([*rest, f"{parts[place]}0"])
        yield ", ".join([*rest, f"x{parts[place]}y"])
    yield re.sub(r"(\d)(\d{3})\b", r"\1,\2", whole)
    yield re.sub(r"(\d),(\d)", r"\1\2", whole)
    yield re.sub(r"(\d+)", r"\1.0", whole)
    yield re.sub(r"(\d+)", r"\1.", whole)
    yield re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), whole)
    yield whole.replace(" ", "  ")
    yield OR.join(expected)


def addresses(reference: str, others: list[str], rng: random.Random) -> Iterator[str]:
    """Addresses near one of the alternatives."""
    alternatives = reference.split(OR)
    yield rng.choice(others).split(OR)[0]
    for gold in alternatives[:4]:
        yield from _near(gold, rng)
    queries = [pair for gold in alternatives for pair in parse_qsl(urlsplit(gold).query)]
    for gold in alternatives[:4]:
        parts = urlsplit(gold)
        yield urlunsplit(parts._replace(query=urlencode(queries)))
        yield urlunsplit(parts._replace(query=urlencode(rng.sample(queries, len(queries)))))
        yield urlunsplit(parts._replace(query=urlencode(queries[1:])))


def contents(expected: list[str], others: list[str], rng: random.Random) -> Iterator[object]:
    """What a locator may give: texts, and now and then another value."""
    yield from (None, True, False, 0, 5, 5.5, ["a", "b"], "", " ")
    yield from expected[:1]
    for text in answers(expected, others, rng):
        yield text
        if rng.random() < 0.4:
            yield f'<p class="{rng.choice(WORDS)}">{html.escape(text)}</p>'
        if rng.random() < 0.2:
            yield text.replace(" ", "&nbsp;").replace("'", "&#39;")


def numbers(inequalities: list[str]) -> Iterator[object]:
    """Numbers around the bounds, as numbers and as texts."""
    for text in re.findall(r"\d+", " ".join(inequalities)):
        for number in (int(text) - 1, int(text), int(text) + 1):
            yield from (number, float(number), number + 0.5, str(number), f" {number:,} ")
            yield from (f"{number}.0", f"${number}", f"{number}\n", f"about {number}")
        yield from (int(text) + 1e-9, int(text) - 1e-9, f"{text[:1]}_{text[1:]}")


def _near(gold: str, rng: random.Random) -> Iterator[str]:
    parts = urlsplit(gold)
    pairs = parse_qsl(parts.query)
    path = parts.path.rstrip("/")
    yield from (gold, f"{gold}/", f"{gold}//", gold.rstrip("/"), f"{gold}#top", f"{gold}/#a/b")
    yield from (f"{gold}?page=2", f"{gold}&page=2", gold.upper(), gold.lower(), f"{gold}x")
    yield from (gold.replace("http:", "https:"), gold.replace("://", "://www."), gold[:-1])
    yield gold.replace("127.0.0.1", "localhost")
    yield urlunsplit(parts._replace(netloc=f"other.test:{rng.randint(1, 99)}"))
    yield urlunsplit(parts._replace(path=f"{path}/more"))
    yield urlunsplit(parts._replace(path=path.rpartition("/")[0]))
    yield urlunsplit(parts._replace(path=f"/index.php{path}"))
    yield urlunsplit(parts._replace(path=quote(parts.path, safe="/")))
    yield urlunsplit(parts._replace(path=parts.path.replace("-", "%2D")))
    yield urlunsplit(parts._replace(query=urlencode([*pairs, ("sort", "asc")])))
    yield urlunsplit(parts._replace(query=urlencode(rng.sample(pairs, len(pairs)))))
    yield urlunsplit(parts._replace(query=urlencode(pairs[:-1])))
    yield urlunsplit(parts._replace(query=urlencode([(key, f"{value}1") for key, value in pairs])))
    yield urlunsplit(
        parts._replace(query=urlencode([(key.upper(), value) for key, value in pairs]))
    )
    yield urlunsplit(parts._replace(query=urlencode([*pairs, *pairs])))
    yield f"http://redirect.test/?to={quote(gold)}"
    yield f"http://redirect.test/{gold}"

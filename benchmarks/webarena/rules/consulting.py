"""The published checks that ask a language model: is the answer the same, is the reason the same.

What the model is shown is what the scorers show it; the words are ours, and their hash is in the
reason of every verdict. An answer is shown as the scorers clean it, in lower case.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.webarena.rules import visualwebarena, webarena
from benchmarks.webarena.rules.webarena import text_of, texts_of
from evaluators.evaluator import Verdict
from evaluators.rules.checks import RuleQuestion, consulting_rule
from webagent.errors import ModelError
from webagent.models.model import Message, Model, Reply
from webagent.models.prompt import Prompt, fence, load_prompt
from webagent.models.replies import UnusableError, ask_and_read

PROMPTS = Path(__file__).parent / "prompts"

MARKS = {"correct": 1.0, "partially correct": 0.0, "incorrect": 0.0}
REASONS = {"same": 1.0, "different": 0.0}

NO_ANSWER = Verdict(0.0, "fails: no answer was given")
UNASKED = "marks of the page are asked without a question"


@dataclass(frozen=True, slots=True)
class ModelQuestion:
    """One question to a model, and how its reply is read."""

    prompt: Prompt
    slots: Mapping[str, str]
    read: Callable[[str], Verdict | None]
    """None where the reply cannot be read."""
    images: tuple[bytes, ...] = ()


async def ask(model: Model | None, asking: ModelQuestion) -> Verdict:
    """Return what the model says, asked once more where its reply cannot be read.

    Abstains without a model, when the second reply cannot be read either, and when it fails.
    """
    prompt = asking.prompt
    if model is None:
        return Verdict(None, f"asks a model ({prompt.name}); give one: checks_hold(means=Means(m))")
    brief = Message("user", prompt.fill("user", **asking.slots), asking.images)
    messages = [Message("system", prompt.fill("system")), brief]
    return await ask_for_verdict(model, prompt, messages, asking.read, max_tokens=2048)


async def ask_for_verdict(
    model: Model,
    prompt: Prompt,
    messages: Sequence[Message],
    read: Callable[[str], Verdict | None],
    *,
    max_tokens: int,
) -> Verdict:
    """Return the verdict `read` finds in the model's reply, with model and prompt in its reason.

    The model is asked once more where `read` returns None. Abstains when that happens twice, and
    when the model fails.
    """
    by = f"{model.name}, {prompt.name}#{prompt.hash}"

    async def ask(messages: tuple[Message, ...]) -> Reply:
        return (await model.complete(messages, max_tokens=max_tokens)).replies[0]

    def read_strictly(text: str) -> Verdict:
        verdict = read(text)
        if verdict is None:
            raise UnusableError(f"the reply {text[:80]!r} cannot be read")
        return verdict

    try:
        verdict = await ask_and_read(ask, messages, read_strictly, lambda _: prompt.fill("again"))
    except ModelError as error:
        return Verdict(None, f"the model failed: {error} ({by})")
    except UnusableError as error:
        return Verdict(None, f"{error}, asked twice ({by})")
    return Verdict(verdict.value, f"{verdict.reason} ({by})")


def read_word(text: str, values: Mapping[str, float]) -> Verdict | None:
    """Return the value of the reply, which must be one entry of the table, or end in a line that
    is."""
    last = text.strip().rpartition("\n")[2]
    word = " ".join(re.findall(r"[a-z]+", last.lower()))
    return Verdict(values[word], f"marked {word}") if word in values else None


@consulting_rule
async def webarena_fuzzy_match(question: RuleQuestion) -> Verdict:
    """A model finds the answer to be correct by each reference."""
    answer = webarena.clean(text_of(question.found))
    references = texts_of(question.expected)
    return await _marked(question, answer, references, "same")


@consulting_rule
async def webarena_unachievable(question: RuleQuestion) -> Verdict:
    """The answer is `N/A`, or a model finds its reason to be the expected one."""
    return await _unachievable(question, webarena.clean)


@consulting_rule
async def visualwebarena_unachievable(question: RuleQuestion) -> Verdict:
    """The answer is `N/A`, or a model finds its reason to be the expected one."""
    return await _unachievable(question, visualwebarena.clean)


@consulting_rule
async def visualwebarena_fuzzy_match(question: RuleQuestion) -> Verdict:
    """A model finds the answer to be correct by each reference."""
    answer = visualwebarena.clean(text_of(question.found))
    return await _marked(question, answer, texts_of(question.expected), "same")


@consulting_rule
async def visualwebarena_page_fuzzy_match(question: RuleQuestion) -> Verdict:
    """A model finds what was selected to be correct by every alternative.

    The scorer joins alternatives by "and", and tells the model no question.
    """
    if question.found is False:
        return Verdict(0.0, visualwebarena.NOTHING)
    selected = visualwebarena.page_text(question.found)
    if not selected:
        return Verdict(0.0, "fails: what was selected is empty")
    alternatives = text_of(question.expected).split(webarena.OR)
    return all_of([await _mark(question, selected, each, "same", UNASKED) for each in alternatives])


@consulting_rule
async def webchorearena_fuzzy_match(question: RuleQuestion) -> Verdict:
    """A model finds the key points of the references, taken as one, in the answer."""
    answer = webarena.clean(text_of(question.found))
    expected = question.expected
    reference = expected if isinstance(expected, str) else "; ".join(texts_of(expected))
    return await _marked(question, answer, [reference], "key_points")


def all_of(verdicts: list[Verdict]) -> Verdict:
    """Join verdicts: a 0 decides, then an abstention; else 1."""
    return _joined(verdicts, (0.0, None, 1.0))


def any_of(verdicts: list[Verdict]) -> Verdict:
    """Join verdicts: a 1 decides, then an abstention; else 0."""
    return _joined(verdicts, (1.0, None, 0.0))


async def _unachievable(question: RuleQuestion, clean: Callable[[str], str]) -> Verdict:
    answer = clean(text_of(question.found))
    if clean(answer) == "n/a":
        return Verdict(1.0, "holds: N/A")
    if not answer:
        return NO_ANSWER
    slots = {
        "task": question.goal,
        "reference": text_of(question.expected),
        "answer": fence("reason", answer),
    }
    prompt = load_prompt(PROMPTS / "unachievable.md")
    return await ask(
        question.means.model, ModelQuestion(prompt, slots, lambda text: read_word(text, REASONS))
    )


async def _marked(question: RuleQuestion, answer: str, references: list[str], how: str) -> Verdict:
    if not answer:
        return NO_ANSWER
    return all_of([await _mark(question, answer, each, how, question.goal) for each in references])


async def _mark(
    question: RuleQuestion, answer: str, reference: str, how: str, goal: str
) -> Verdict:
    prompt = load_prompt(PROMPTS / "fuzzy_match.md")
    slots = {
        "how": prompt.fill(how),
        "question": goal,
        "reference": reference,
        "answer": fence("answer", answer),
    }
    return await ask(
        question.means.model, ModelQuestion(prompt, slots, lambda text: read_word(text, MARKS))
    )


def _joined(verdicts: list[Verdict], order: tuple[float | None, ...]) -> Verdict:
    for value in order:
        reasons = [verdict.reason for verdict in verdicts if verdict.value == value]
        if reasons:
            return Verdict(value, "; ".join(reasons))
    return Verdict(order[-1], "the task expects nothing")

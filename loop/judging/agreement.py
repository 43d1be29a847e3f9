"""Evaluators compared with people's labels: matching, figures, tables, the file they go to."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from difflib import get_close_matches
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from evaluators.combine import EvaluatorTally
from evaluators.evaluator import FunctionEvaluator
from evaluators.labels import Label
from evaluators.statistics import Interval
from loop.console.screen import build_table
from webagent.errors import SetupError
from webagent.models.spending import Prices
from webagent.store import Store
from webagent.store.store import EpisodeSummary

if TYPE_CHECKING:
    from evaluators.agreement import Agreement, Ceiling, EvaluatorComparison, LabelledScore, Truths

HEAD = ("evaluator", "episodes", "coverage", "precision", "recall", "F1", "false positives")
MORE_HEAD = ("evaluator", "accuracy", "kappa", "Brier", "ECE")
COST_HEAD = (
    *("evaluator", "asked", "decided", "abstained", "failed", "overruled"),
    *("seconds", "requests", "tokens", "money"),
)


def format_agreement(name: str, found: "Agreement") -> tuple[str, ...]:
    """A row of the table of agreement."""
    rates = ("precision", "recall", "f1", "false_positive_rate")
    return (
        name,
        str(found.episodes),
        format_share(found.coverage),
        *(format_share(found.measures[each]) for each in rates),
    )


def format_calibration(name: str, found: "Agreement") -> tuple[str, ...]:
    """A row of the table of what is left: how much of it chance gives, and calibration."""
    known = found.calibration
    graded = (known.brier, known.ece) if known else (None, None)
    kappa = format_number(found.measures["kappa"])
    return (name, format_share(found.measures["accuracy"]), kappa, *map(format_number, graded))


def describe_costs(name: str, tally: EvaluatorTally, prices: Prices) -> list[str]:
    """What an episode cost, how many came to the dear one, how members agree."""
    if not tally.episodes:
        return []
    seconds = sum(stage.seconds for stage in tally.stages) / tally.episodes
    tokens = sum(stage.tokens for stage in tally.stages) / tally.episodes
    requests = sum(stage.requests for stage in tally.stages)
    money = tally.money(prices)
    known = f", {money / tally.episodes:.3g} in money" if requests and money is not None else ""
    members = [stage.name for stage in tally.stages]
    sentences = [f"{name}: {seconds:.3g} s, {tokens:,.0f} tokens{known} an episode"]
    if len(tally.stages) > 1:
        sentences.append(
            f"{name}: {100 * (tally.reached_last or 0):.1f} % of {tally.episodes} episodes came to"
            f" {members[-1]}"
        )
    for (one, other), (both, same) in sorted(tally.together.items()):
        pair = f"{members[one]} and {members[other]}"
        sentences.append(f"{pair} say the same on {same} of the {both} episodes that both decide")
    return sentences


def describe_bounds(name: str, found: "Agreement") -> str:
    """What abstentions could make of the figures; empty where there are none."""
    silent = sum(found.abstained)
    if not silent:
        return ""
    low, high = found.as_failure, found.as_success
    return (
        f"{name} abstains on {silent} ({found.abstained[0]} successes, {found.abstained[1]}"
        f" failures); as failures: precision {format_share(low['precision'])}, recall"
        f" {format_share(low['recall'])}; as successes: precision"
        f" {format_share(high['precision'])}, recall {format_share(high['recall'])}"
    )


def describe_annotators(found: "Ceiling") -> str:
    """How far annotators agree; empty where no two labelled the same episode."""
    if not found.pairs:
        return ""
    unsure = f", {found.unsure} more unsure" if found.unsure else ""
    return (
        f"people agree with each other on {format_share(found.agreement)} of {found.pairs} pairs of"
        f" labels{unsure}, kappa {format_number(found.kappa)}"
    )


def describe_comparison(first: str, second: str, found: "EvaluatorComparison") -> str:
    """Two evaluators on the same episodes."""
    differences = ", ".join(
        f"{name.replace('_', ' ')} {format_difference(found.differences[name])}"
        for name in ("precision", "recall", "f1")
    )
    return (
        f"{first} less {second} on {found.episodes} episodes that both decide: {differences};"
        f" only the first is right on {found.only_first_right}, only the second on"
        f" {found.only_second_right}"
    )


def format_share(found: Interval | None) -> str:
    """In per cent with its interval."""
    if found is None:
        return "–"
    return f"{100 * found.value:.1f} [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def format_number(found: Interval | None) -> str:
    """As it is, with its interval."""
    return "–" if found is None else f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def format_difference(found: Interval | None) -> str:
    """A difference in points with its interval."""
    if found is None:
        return "–"
    return f"{100 * found.value:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def as_plain(value: Any) -> Any:
    """Records as JSON values."""
    if isinstance(value, Interval):
        return value._asdict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_plain(each) for each in value]
    return value


GROUPS = ("benchmark", "agent", "task")


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """What came of holding evaluators against labels."""

    rule: str
    truth: "Truths"
    people: "Ceiling"
    pairs: "Mapping[str, Sequence[LabelledScore]]"
    """By evaluator."""
    figures: "Mapping[str, Agreement]"
    groups: "Mapping[str, Mapping[str, Mapping[str, Agreement]]]"
    """By evaluator, `GROUPS`, and what the group is called."""
    compared: "Mapping[tuple[str, str], EvaluatorComparison]"


def measure_agreement(
    labels: Sequence[Label], values: Mapping[str, Mapping[str, float | None]], rule: str
) -> AgreementReport:
    """The figures of every evaluator. Raises `SetupError` where no labelled episode was judged."""
    from evaluators.agreement import (
        compare,
        compute_agreement,
        decide_truths,
        measure_by_group,
        measure_ceiling,
        pair_scores,
    )

    truth = decide_truths(labels, rule)
    pairs = {name: pair_scores(theirs, truth) for name, theirs in values.items()}
    pairs = {name: theirs for name, theirs in pairs.items() if theirs}
    if not pairs:
        raise SetupError(
            f"none of the {len(truth.values)} labelled episodes has been judged; name evaluators"
            " with --with"
        )
    return AgreementReport(
        rule,
        truth,
        measure_ceiling(labels),
        pairs,
        {name: compute_agreement(theirs) for name, theirs in pairs.items()},
        {
            name: {group: measure_by_group(theirs, group) for group in GROUPS}
            for name, theirs in pairs.items()
        },
        {(a, b): compare(pairs[a], pairs[b]) for a, b in combinations(pairs, 2)},
    )


def agreement_as_json(held: AgreementReport, labels: Path, ignored: int) -> dict[str, Any]:
    """Everything, with the figures of each benchmark, agent and task."""
    truth = held.truth
    return {
        "labels": str(labels),
        "several_annotators": held.rule,
        "labelled": len(truth.values),
        "successes": sum(truth.values.values()),
        "disputed": list(truth.disputed),
        "unsure": list(truth.unsure),
        "ignored_labels": ignored,
        "people": as_plain(held.people),
        "evaluators": {
            name: {**as_plain(found), "groups": as_plain(held.groups[name])}
            for name, found in held.figures.items()
        },
        "compared": [
            {"first": a, "second": b, **as_plain(found)} for (a, b), found in held.compared.items()
        ],
    }


def print_agreement(held: AgreementReport, console: Console) -> None:
    """The table, the bounds of those that abstain, people among themselves, evaluators in pairs."""
    truth = held.truth
    left_out = f"{len(truth.disputed)} disputed and {len(truth.unsure)} unsure ones left out"
    successes = sum(truth.values.values())
    first = f"{len(truth.values)} labelled episodes, {successes} successes; {left_out}"
    console.print(first)
    rows = [format_agreement(name, found) for name, found in held.figures.items()]
    console.print(build_table("agreement, in % with 95 % intervals", HEAD, rows))
    rows = [format_calibration(name, found) for name, found in held.figures.items()]
    console.print(build_table("and beyond", MORE_HEAD, rows))
    for group in GROUPS[:2]:
        rows = [
            (name, *format_agreement(member, found))
            for name, groups in held.groups.items()
            for member, found in groups[group].items()
        ]
        if len({row[1] for row in rows}) > 1:
            head = ("evaluator", group, *HEAD[1:])
            console.print(build_table(f"by {group}", head, rows))
    sentences = [describe_bounds(name, found) for name, found in held.figures.items()]
    sentences += [describe_comparison(a, b, found) for (a, b), found in held.compared.items()]
    sentences.append(describe_annotators(held.people))
    for sentence in [sentence for sentence in sentences if sentence]:
        console.print(f"• {sentence}")
    for name, found in held.figures.items():
        known = found.calibration
        if known is None or all(each.mean in (0.0, 1.0) for each in known.bins):
            continue  # without values, or one that says only yes or no
        rows = [
            (
                f"{each.low:.1f}–{each.high:.1f}",
                str(each.count),
                f"{100 * each.mean:.1f}",
                format_share(each.true),
            )
            for each in known.bins
        ]
        title = f"what {name} says and what is so"
        console.print(build_table(title, ("value", "episodes", "said %", "true %"), rows))
        console.print(f"Brier {format_number(known.brier)}, ECE {format_number(known.ece)}")


def print_costs(tallies: Mapping[str, EvaluatorTally], prices: Prices, console: Console) -> None:
    """What each evaluator and each of its members answered and cost, over all sessions."""
    for name, tally in tallies.items():
        if tally.episodes:
            rows = [
                (
                    stage.name,
                    *map(str, (stage.asked, stage.decided, stage.abstained)),
                    *map(str, (stage.failed, stage.overruled)),
                    f"{stage.seconds:.1f}",
                    str(stage.requests),
                    f"{stage.tokens:,}",
                    f"{money:.4g}"
                    if stage.requests and (money := stage.money(prices)) is not None
                    else "–",
                )
                for stage in tally.stages
            ]
            console.print(build_table(f"asked of {name}", COST_HEAD, rows))
            for sentence in describe_costs(name, tally, prices):
                console.print(f"• {sentence}")


def print_verdicts(
    store: Store,
    entries: Sequence[EpisodeSummary],
    evaluators: Iterable[FunctionEvaluator],
    console: Console,
) -> None:
    """Print what each evaluator made of these episodes, and why it abstained, over all sessions."""
    scores = store.scores("finished", id=[entry.id for entry in entries]) if entries else {}
    for each in evaluators:
        given = [
            score
            for episode in scores.values()
            for score in episode
            if (score.name, score.evaluator) == (each.score, each.id)
        ]
        values = [score.value for score in given if score.value is not None]
        sentence = f"{each.id}: {len(given):,} of {len(entries):,} episodes asked about"
        if values:
            sentence += f", {100 * sum(values) / len(values):.1f} % {each.score} of {len(values):,}"
        reasons = Counter(score.reason for score in given if score.value is None)
        if reasons:
            sentence += (
                f", abstained on {reasons.total():,}, mostly: {reasons.most_common(1)[0][0]}"
            )
        console.print(sentence)


def match_labels(
    labels: Sequence[Label], entries: Sequence[EpisodeSummary], *, ignore_unknown: bool
) -> tuple[list[Label], int]:
    """The labels under the ids of the run's episodes, with their tasks, and how many found none.

    An episode is found by its id, else by task and agent where one episode alone has them. Raises
    `SetupError` for labels of episodes that the run has not, unless they are to be ignored, and
    when none is left.
    """
    by_id = {entry.id: entry for entry in entries}
    by_task: defaultdict[tuple[str, str], list[EpisodeSummary]] = defaultdict(list)
    for entry in entries:
        # Label files call `suite/7@1` also `suite/7`, `suite.7` and `7`.
        bare = entry.task.split("@", 1)[0]
        for name in {entry.task, bare, bare.replace("/", ".", 1), bare.rsplit("/", 1)[-1]}:
            by_task[name, entry.arm].append(entry)
    found: list[Label] = []
    unknown: list[str] = []
    for label in labels:
        there = by_task.get((label.task, label.agent), []) if label.task else []
        meant = by_id.get(label.episode) or (there[0] if len(there) == 1 else None)
        if meant is None:
            unknown.append(label.episode)
        else:
            found.append(
                replace(
                    label,
                    episode=meant.id,
                    benchmark=label.benchmark or meant.task.rpartition("/")[0],
                    agent=label.agent or meant.arm,
                    task=label.task or meant.task,
                )
            )
    if not found or (unknown and not ignore_unknown):
        total = len(labels)
        shown = ", ".join(map(repr, unknown[:3])) + (", …" if len(unknown) > 3 else "")
        close = get_close_matches(unknown[0], list(by_id), n=1) if unknown else []
        hint = (
            f"did you mean {close[0]!r}?"
            if close
            else f"the run's are such as {next(iter(by_id), 'none')!r}"
        )
        raise SetupError(
            f"{len(unknown)} of {total} labels are of episodes not in this run: {shown}; {hint}"
            " (--ignore-unknown leaves them out where others fit)"
        )
    return found, len(unknown)


def read_values(store: Store, score: str = "success") -> dict[str, dict[str, float | None]]:
    """What each evaluator said of each episode, by evaluator and episode."""
    values: defaultdict[str, dict[str, float | None]] = defaultdict(dict)
    for episode, scores in store.scores().items():
        for one in scores:
            if one.name == score:
                values[one.evaluator][episode] = one.value
    return dict(values)

"""What a small model in front of a large one took over in a run."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from statistics import fmean

from evaluators.statistics import calibration_error
from loop.costs import RunPrices
from loop.notes import find_headline
from loop.student import STUDENT_STATE
from loop.summary.schema import StudentRow
from webagent.policy.past_actions import find_detours
from webagent.records import AGREED, ASKED, STUDENT, SURE, Trajectory
from webagent.store import Store


def summarize_students(store: Store, judge: str = "") -> list[StudentRow]:
    """Return what students took over, by phase, arm and round; none for a run without one.

    `judge` is how the id of the evaluator begins whose verdicts count; empty for any.
    """
    state = store.get_state(STUDENT_STATE)
    if not isinstance(state, dict):
        return []
    sure, prices = float(str(state["sure"])), RunPrices.of(store)
    phases = ["collect", "evaluate"]
    scores = store.scores(phase=phases)
    verdicts = {
        episode: headline.value if (headline := find_headline(given, judge)) else None
        for episode, given in scores.items()
    }

    def place(episode: Trajectory) -> tuple[str, str, int]:
        return episode.provenance.phase, episode.provenance.arm, episode.provenance.round

    found = []
    for where, episodes in groupby(sorted(store.trajectories(phase=phases), key=place), place):
        row = _summarize(where, list(episodes), verdicts, sure, prices)
        if row["steps_of_student"] or row["calls"]:
            found.append(row)
    return found


def _summarize(
    where: tuple[str, str, int],
    episodes: Sequence[Trajectory],
    verdicts: Mapping[str, float | None],
    sure: float,
    prices: RunPrices,
) -> StudentRow:
    decisions = [step.decision for episode in episodes for step in episode.steps]
    acted = [each for each in decisions if each.source == STUDENT]
    requested = [each for each in decisions if ASKED in each.usage]
    money = [prices.step(each)[0] for each in requested]
    known = [each for each in money if each is not None]
    cost = fmean(known) if known and len(known) == len(money) else None
    counts = ("input_tokens", "output_tokens")
    tokens = sum(each.usage.get(name, 0) for each in requested for name in counts)
    alone = [e for e in episodes if all(s.decision.source == STUDENT for s in e.steps)]
    rest = [e for e in episodes if e not in alone]
    # What was undone was a mistake of the large model: such steps are not learnt from, either.
    nowhere = {episode.id: find_detours(episode.steps) for episode in episodes}
    judged = [
        step.decision
        for episode in episodes
        if (verdicts.get(episode.id) or 0.0) >= 0.5 or verdicts.get(episode.id) is None
        for place, step in enumerate(episode.steps)
        if step.decision.usage.get(SURE) and ASKED in step.decision.usage
        if place not in nowhere[episode.id]
    ]
    phase, arm, round = where
    pairs = [(each.usage[SURE] / 1000, bool(each.usage[AGREED])) for each in judged]
    # Where it was sure it was compared on a sample only: each of those stands for the steps that
    # it took alone, too.
    audited = sum(confidence >= sure for confidence, _ in pairs)
    weight = 1 + len(acted) / audited if audited else 1.0
    weights = [weight if confidence >= sure else 1.0 for confidence, _ in pairs]
    return StudentRow(
        phase=phase,
        arm=arm,
        round=round,
        steps=len(decisions),
        steps_of_student=len(acted),
        calls=len(requested),
        audits=sum(each.usage[SURE] >= 1000 * sure for each in requested),
        tokens_saved=len(acted) * tokens / max(1, len(requested)),
        money_saved=None if cost is None else len(acted) * cost,
        money_spent=None if cost is None else len(requested) * cost,
        success=_mean(verdicts, episodes),
        episodes_alone=len(alone),
        success_alone=_mean(verdicts, alone),
        success_others=_mean(verdicts, rest),
        compared=len(judged),
        calibration_error=calibration_error(pairs, weights) if pairs else None,
    )


def _mean(verdicts: Mapping[str, float | None], episodes: Iterable[Trajectory]) -> float | None:
    values = [value for each in episodes if (value := verdicts.get(each.id)) is not None]
    return fmean(values) if values else None


def format_student(row: StudentRow) -> str:
    """Return a row in words."""
    steps, own = row["steps"], row["steps_of_student"]
    where = f"{row['arm']}, round {row['round']}" if row["round"] else row["arm"]
    sentences = [
        f"{where}: the student took {own:,} of {steps:,} steps ({own / steps:.1%}) and the large"
        f" model was asked {row['calls']:,} times, {row['audits']:,} of them to check on it"
    ]
    if row["tokens_saved"]:
        sentences.append(f"about {row['tokens_saved']:,.0f} tokens saved")
    if row["money_saved"] is not None:
        sentences.append(f"{row['money_spent']:.4g} spent and about {row['money_saved']:.4g} saved")
    if row["success"] is not None:
        alone = f" of {row['episodes_alone']:,} episodes it did alone"
        rates = {alone: row["success_alone"], " of the others": row["success_others"]}
        parts = [f"{rate:.1%}{of}" for of, rate in rates.items() if rate is not None]
        sentences.append(f"success {row['success']:.1%}: {', '.join(parts)}")
    if not own:
        sentences.append(
            f"it was never sure: it has been compared with {row['compared']:,} answers; let it"
            " learn from more episodes"
        )
    elif row["calibration_error"] is not None:
        sentences.append(
            f"calibration error {row['calibration_error']:.3f} on {row['compared']:,} answers"
        )
    return "; ".join(sentences)

"""What each round was learnt from: who proposed, who judged, what was imagined, what it cost."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from loop.arms import ARMS
from loop.notes import LEARNING, PROPOSED, read_rounds
from loop.summary.schema import LearningRow, Summary
from webagent.store import Store


def summarize_learning(store: Store) -> list[LearningRow]:
    """Return a row for each arm and round that has learnt; none for a run that learns nothing."""
    learnt, proposed = read_rounds(store, LEARNING), read_rounds(store, PROPOSED)
    order = {name: place for place, name in enumerate(ARMS)}

    def place(key: tuple[str, int, int]) -> tuple[int, int]:
        return order.get(key[0], len(order)), key[2]

    rows = []
    for _, keys in groupby(sorted(learnt, key=place), place):
        known = list(keys)
        arm, _, number = known[0]
        costs = [store.get_state(f"round:{arm}:{repeat}:{number}") for _, repeat, _ in known]
        rows.append(
            _summarize(
                (arm, number),
                [learnt[key] for key in known],
                [proposed[key] for key in known if key in proposed],
                [dict(cost) if isinstance(cost, dict) else {} for cost in costs],
                store.count_real_steps(arm=arm, round=number, phase="collect"),
            )
        )
    return rows


def _summarize(
    place: tuple[str, int],
    learnt: list[dict[str, Any]],
    proposed: list[dict[str, Any]],
    costs: list[dict[str, Any]],
    real_steps: int,
) -> LearningRow:
    def count(name: str) -> int:
        return sum(int(noted[name]) for noted in learnt)

    return LearningRow(
        arm=place[0],
        round=place[1],
        proposer=str(proposed[0]["proposer"]) if proposed else "",
        proposed=sum(noted["made"] for noted in proposed),
        unreadable=sum(noted["unreadable"] for noted in proposed),
        refused=_add(noted["refused"] for noted in proposed),
        reasons=_add(noted["reasons"] for noted in proposed),
        kept=sum(len(noted["tasks"]) for noted in proposed),
        played=count("played"),
        judge=str(learnt[0]["judge"]),
        collected=count("collected"),
        succeeded=count("succeeded"),
        unjudged=count("unjudged"),
        silent=next((str(noted["silent"]) for noted in learnt if noted.get("silent")), ""),
        violations=_add(noted.get("violations", {}) for noted in learnt),
        violating=sum(int(noted.get("violating", 0)) for noted in learnt),
        dreamt=count("dreamt"),
        dreams_kept=count("dreams_kept"),
        demonstrations=count("demonstrations"),
        successes=count("successes"),
        real_steps=real_steps,
        proposing_steps=sum(noted["steps"] for noted in proposed),
        train_tokens=_total(costs, "train_tokens") or 0.0,
        imagined_tokens=_total(costs, "imagined_tokens") or 0.0,
        updates=_total(costs, "updates") or 0.0,
        model_tokens=_total(costs, "model_tokens"),
        money=_total(costs, "money"),
        seconds=_total(costs, "seconds") or 0.0,
    )


def _add(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return dict(total.most_common())


def _total(costs: Iterable[Mapping[str, Any]], name: str) -> float | None:
    values = [float(cost[name]) for cost in costs if name in cost]
    return sum(values) if values else None


def format_all_learning(summary: Summary) -> list[str]:
    """Return in words what each round learned from, where it had anything to learn from: a control
    without demonstrations has nothing to go over again."""
    rows = summary.get("learning", ())
    return [format_learning(r) for r in rows if r["arm"] != "control" or r["demonstrations"]]


def format_learning(row: LearningRow) -> str:
    """Return a row in words."""
    sentences = []
    if row["proposer"]:
        refused = ", ".join(f"{count:,} {name}" for name, count in row["refused"].items())
        sentences.append(
            f"proposer {row['proposer']}: {row['proposed']:,} tasks proposed, {row['kept']:,} kept,"
            f" refused {refused or 'none'}"
            + f", {row['unreadable']:,} not to be read"
            * bool(row["unreadable"])
        )
    if row["collected"]:
        judge = re.split(r"[@[]", row["judge"])[0]
        sentences.append(
            f"{row['collected']:,} episodes played"
            + f", {row['played']:,} of them on proposed tasks" * bool(row["played"] or row["kept"])
            + f"; {judge} passed {row['succeeded']:,}"
            + f" and left {row['unjudged']:,} undecided" * bool(row["unjudged"])
        )
        if why := row.get("silent"):
            sentences.append(f"{judge} decided no episode, so none of them teaches anything: {why}")
        if rules := row.get("violations"):
            sentences.append(
                f"the guard refused actions of the agent in {row.get('violating', 0):,} of them ("
                f"{', '.join(f'{rule} {count:,}' for rule, count in rules.items())})"
            )
    elif row["arm"] in ARMS and ARMS[row["arm"]].learns_from == "experience":
        sentences.append("no episode played, as --steps did not suffice for the first sampled task")
    if row["dreamt"]:
        sentences.append(f"{row['dreamt']:,} episodes imagined, {row['dreams_kept']:,} kept")
    parts = {
        "demonstrations": row["demonstrations"],
        "successes so far": row["successes"],
        # Kept ones may have no step that is trained on; older summaries do not tell.
        "dreams": row["dreams_kept"] if row.get("imagined_tokens") != 0 else 0,
    }
    named = [f"{count:,} {name}" for name, count in parts.items() if count]
    sentences.append(f"learnt from {', '.join(named) or 'nothing'}")
    costs = [f"{row['real_steps']:,} real steps"]
    if row["proposing_steps"]:
        costs.append(f"{row['proposing_steps']:,} more to propose")
    imagined = row.get("imagined_tokens", 0.0)
    costs.append(
        f"{row['train_tokens']:,.0f} tokens trained on"
        + f" ({imagined:,.0f} of them imagined)" * bool(imagined)
        + f" in {row.get('updates', 0.0):,.0f} updates" * bool(row.get("updates"))
    )
    if row["model_tokens"] is not None:
        costs.append(f"{row['model_tokens']:,.0f} tokens of models")
    if row["money"] is not None:
        costs.append(f"{row['money']:.4g} in money")
    sentences.append(f"cost: {', '.join(costs)}, {row['seconds']:,.0f} s")
    return f"{row['arm']}, round {row['round']}: {'; '.join(sentences)}"

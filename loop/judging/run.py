"""One run being judged: evaluators checked, frozen and used, and compared with labels."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from evaluators.adversarial import AdversarialResult, load_corpus, measure_pass_rates
from evaluators.combine import EvaluatorTally
from evaluators.evaluator import FunctionEvaluator, Verdict
from evaluators.labels import read_labels, select_score
from loop.console.progress import EpisodeCounter, count_episodes
from loop.console.screen import results_console
from loop.costs import check_cost_cap, format_spending, open_judging_ledger, run_until_closed
from loop.judging.agreement import (
    agreement_as_json,
    as_plain,
    match_labels,
    measure_agreement,
    print_agreement,
    print_costs,
    print_verdicts,
    read_values,
)
from loop.judging.scoring import ScoringRun, read_tallies
from loop.judging.settings import JudgeConfig
from loop.judging.specification import (
    EvaluatorBuilder,
    EvaluatorSpec,
    freeze_judge,
    name_evaluator,
    open_judge_model,
    parse_evaluator,
    read_frozen_specs,
    verify_judges,
)
from webagent.errors import SetupError, StoreError
from webagent.files import write_whole
from webagent.models.spending import Ledger, Prices
from webagent.records import Trajectory
from webagent.store import Store
from webagent.store.store import EpisodeSummary

_WIDTH = 170


@dataclass(slots=True)
class JudgingRun:
    """One run being judged."""

    config: JudgeConfig
    store: Store
    prices: Prices
    evaluators: list[FunctionEvaluator] = field(default_factory=list)
    tallies: dict[str, EvaluatorTally] = field(default_factory=dict)
    standings: list[AdversarialResult] = field(default_factory=list)
    """How the evaluators stood the lies, where they were tried on them."""
    left_undone: str = ""
    """Why judging ended early; empty where it did not."""

    async def judge(self) -> None:
        """Everything that needs evaluators: check, fix and ask them."""
        texts = list(self.config.evaluators)
        if self.config.verify:
            texts = texts or read_frozen_specs(self.config.run)
        specs = [parse_evaluator(text) for text in texts]
        ledger = open_judging_ledger(self.store, self.config.caps, self.prices)
        named = None
        if any(spec.asks_a_model for spec in specs):
            named = self.config.contestant
            check_cost_cap(self.config.caps, self.config.model.paid, self.prices)
        images = self.store.images.get if self.config.images else None
        async with open_judge_model(named, ledger) as model:
            kept = read_tallies(self.store)
            making = EvaluatorBuilder(model, images, self.config.seconds, kept=kept)
            if self.config.verify:
                verify_judges(self.config.run, making, read_frozen_specs(self.config.run))
            if self.config.freeze:
                for text in texts:
                    freeze_judge(self.config.run, making, text)
            work = self._work(specs, making, ledger)
            await run_until_closed(work, ledger, self.config.caps.seconds_left())
            self.left_undone = ledger.reason or "it was interrupted" if self.left_undone else ""

    async def _work(
        self, specs: Sequence[EvaluatorSpec], making: EvaluatorBuilder, ledger: Ledger
    ) -> None:
        """Ask every evaluator about every episode that it has not scored, or about the adversarial
        ones; what is left undone when it is cancelled is kept in mind."""
        self.left_undone = "not begun"
        evaluators = list({name_evaluator(e): e for e in map(making.evaluator, specs)}.values())
        if self.config.adversarial:
            cases = load_corpus()
            for evaluator in evaluators:
                with count_episodes(len(cases)) as counter:
                    standing = await measure_pass_rates(_watched(evaluator, counter), cases)
                self.standings.append(standing)
        elif specs:
            self.evaluators = evaluators
            config = self.config
            scoring = ScoringRun(self.store, evaluators, making.tallies, ledger, config.seconds)
            self.tallies = scoring.tallies
            episodes = [entry.id for entry in self.entries()]
            if not episodes:
                raise SetupError(
                    f"{config.run} holds no episode to judge: those that came to an end, are not"
                    " imagined and are of the arms and phases that were named"
                )
            work = scoring.open_work(episodes, retry=config.retry)
            if not work:
                print(
                    f"nothing left to judge: all {len(episodes)} episodes have their verdicts;"
                    " --retry judges those again on which an evaluator abstained"
                )
            with count_episodes(len(work), cost=partial(format_spending, ledger)) as counter:
                await scoring.score(work, config.concurrency, counter)
        self.left_undone = ""

    def entries(self) -> list[EpisodeSummary]:
        """The episodes that are meant."""
        return [
            entry
            for entry in self.store.entries()
            if (self.config.imagined or entry.world != "imagined")
            and entry.arm in (self.config.arms or (entry.arm,))
            and entry.phase in (self.config.phases or (entry.phase,))
        ]

    def tell(self) -> dict[str, Any]:
        """What was spent, and with labels how far the evaluators agree with people, as it is
        shown; `Judgements`."""
        console = results_console(_WIDTH)
        # Of the evaluators asked for, over all sessions.
        report: dict[str, Any] = {
            "run": str(self.config.run),
            "costs": {
                name: {
                    **as_plain(tally),
                    "together": [[*places, *counts] for places, counts in tally.together.items()],
                    "money": tally.money(self.prices),
                    "share_that_reached_the_last": tally.reached_last,
                }
                for name, tally in self.tallies.items()
            },
            "stopped": self.left_undone,
        }
        print_costs(self.tallies, self.prices, console)
        print_verdicts(self.store, self.entries(), self.evaluators, console)
        if self.standings:
            report["adversarial"] = [asdict(standing) for standing in self.standings]
            self._write("adversarial.json", json.dumps(report["adversarial"], indent=1) + "\n")
            print("\n\n".join(map(str, self.standings)))
        if self.config.against is not None:
            score = self.config.score
            given = select_score(read_labels(self.config.against), score)
            if not given:
                raise SetupError(f"{self.config.against} holds no label of the score {score!r}")
            placed_labels, ignored = match_labels(
                given, self.entries(), ignore_unknown=self.config.ignore_unknown
            )
            values = read_values(self.store, score)
            names = [each.id for each in self.evaluators if each.score == score] or list(values)
            chosen = {name: values.get(name, {}) for name in names}
            held = measure_agreement(placed_labels, chosen, self.config.annotators)
            print_agreement(held, console)
            report |= agreement_as_json(held, self.config.against, ignored)
            target = self._write("agreement.json", json.dumps(report, indent=1) + "\n")
            print(f"numbers: {target}")
        return report

    def _write(self, name: str, content: str) -> Path:
        folder = self.config.out or self.config.run
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{folder} cannot be written: {error}") from error
        return write_whole(folder / name, content)


def _watched(evaluator: FunctionEvaluator, counter: EpisodeCounter) -> FunctionEvaluator:
    """It, telling how far it is."""

    async def judge(trajectory: Trajectory) -> Verdict:
        verdict = await evaluator(trajectory)
        counter.count(trajectory, verdict.value, is_new=True)
        return Verdict(verdict.value, verdict.reason)

    return FunctionEvaluator(evaluator.id, evaluator.score, judge)

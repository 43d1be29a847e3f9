"""What a stored decision cost, at the prices that its run was played at."""

from dataclasses import dataclass

from loop.spending import kept_entries, kept_prices
from webagent.models.price import Price, Prices
from webagent.records import Decision, Trajectory
from webagent.store import Store


@dataclass(frozen=True, slots=True)
class Till:
    """The prices of one run."""

    prices: Prices
    asked: str
    """The one model that policies asked for, whatever its server called itself; empty where there
    were several or none."""

    @classmethod
    def of(cls, store: Store) -> "Till":
        """As the run's ledger has it."""
        asked = {entry.model for entry in kept_entries(store) if entry.role == "policy"}
        return cls(kept_prices(store) or Prices(), asked.pop() if len(asked) == 1 else "")

    def step(self, decision: Decision) -> tuple[float | None, str | None]:
        """Money and its currency; None where price or tokens are not known, or weights are own."""
        price = self._price(decision)
        counted = decision.usage.get("input_tokens", 0) + decision.usage.get("output_tokens", 0)
        money = price.money(decision.usage) if price and counted else None
        return money, price.currency if price and money is not None else None

    def episode(self, trajectory: Trajectory) -> tuple[float | None, str | None]:
        """The sum over the steps; None where that of any is not known."""
        steps = [self.step(step.decision) for step in trajectory.steps]
        known = [money for money, _ in steps if money is not None]
        if not known or len(known) < len(steps):
            return None, None
        return sum(known), steps[0][1]

    def _price(self, decision: Decision) -> Price | None:
        return self.prices.of(decision.weights) or (
            self.prices.of(self.asked) if self.asked else None
        )

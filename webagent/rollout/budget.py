"""A number of real steps, shared by episodes that run at the same time and never exceeded."""

import asyncio


class StepBudget:
    """Steps are set aside before an episode and given back, as far as unused, after it."""

    def __init__(self, limit: int | None, spent: int = 0) -> None:
        self._limit = limit
        self._spent = spent
        self._reserved = 0
        self._given_back = asyncio.Event()

    def reserve(self, steps: int) -> bool:
        """Set steps aside if so many are free now."""
        if self._limit is not None and self._spent + self._reserved + steps > self._limit:
            return False
        self._reserved += steps
        return True

    async def reserve_in_time(self, steps: int) -> bool:
        """Set steps aside, waiting for what running episodes give back.

        False when none is running and there are still too few.
        """
        while not self.reserve(steps):
            if not self._reserved:
                return False
            self._given_back.clear()
            await self._given_back.wait()
        return True

    def settle(self, reserved: int, used: int) -> None:
        """Book what was used of the steps set aside and free the rest."""
        self._reserved -= reserved
        self._spent += used
        self._given_back.set()

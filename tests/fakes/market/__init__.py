"""A market on this machine with real state behind it, and errands that can be run there."""

from tests.fakes.market.deeds import DEEDS
from tests.fakes.market.errands import ERRANDS, Errand, errand
from tests.fakes.market.market import Market, serving_market

__all__ = ["DEEDS", "ERRANDS", "Errand", "Market", "errand", "serving_market"]

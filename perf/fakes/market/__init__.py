"""A market on this machine with real state behind it, and errands that can be run there."""

from perf.fakes.market.deeds import DEEDS
from perf.fakes.market.errands import ERRANDS, Errand, errand
from perf.fakes.market.market import Market, serving_market

__all__ = ["DEEDS", "ERRANDS", "Errand", "Market", "errand", "serving_market"]

"""A market on this machine with real state behind it, and tasks that can be run there."""

from tests.fakes.market.handlers import HANDLERS
from tests.fakes.market.market import Market, serving_market
from tests.fakes.market.market_tasks import MARKET_TASKS, MarketTask, make_market_task

__all__ = ["HANDLERS", "MARKET_TASKS", "Market", "MarketTask", "make_market_task", "serving_market"]

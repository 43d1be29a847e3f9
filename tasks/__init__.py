"""What to do: tasks, the suites that hold them and the curriculum that draws from them."""

from tasks.task import Check, PageHooks, Task

__all__ = ["Check", "PageHooks", "Task"]

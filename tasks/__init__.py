"""What to do: tasks, the suites that hold them and the curriculum that samples from them."""

from tasks.task import PageHooks, Task, TaskCheck

__all__ = ["PageHooks", "Task", "TaskCheck"]

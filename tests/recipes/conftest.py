"""The chat server of the models' tests, for recipes that ask one."""

from tests.webagent.conftest import behave, chat_server

__all__ = ["behave", "chat_server"]

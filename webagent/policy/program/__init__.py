"""Programs: tasks learned from recordings, played again for every row of a table."""

from webagent.policy.program.learning import learn_program
from webagent.policy.program.playing import ProgramPolicy
from webagent.policy.program.program import Program, read_program, write_program

__all__ = ["Program", "ProgramPolicy", "learn_program", "read_program", "write_program"]

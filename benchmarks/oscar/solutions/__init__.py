"""Scripted solutions of the tasks on oscar@1; importing registers them."""

from benchmarks.oscar.solutions import account as account
from benchmarks.oscar.solutions import basket as basket
from benchmarks.oscar.solutions import dashboard as dashboard
from benchmarks.oscar.solutions import infeasible as infeasible
from benchmarks.oscar.solutions import lookups as lookups

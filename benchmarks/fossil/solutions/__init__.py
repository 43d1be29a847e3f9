"""Scripted solutions of the tasks on fossil@1; importing registers them."""

from benchmarks.fossil.solutions import questions as questions
from benchmarks.fossil.solutions import setup as setup
from benchmarks.fossil.solutions import tickets as tickets
from benchmarks.fossil.solutions import wiki as wiki

"""Scripted solutions of MiniWoB++ tasks; importing registers them."""

from benchmarks.miniwob.solutions import booking as booking
from benchmarks.miniwob.solutions import buttons as buttons
from benchmarks.miniwob.solutions import choices as choices
from benchmarks.miniwob.solutions import dragging as dragging
from benchmarks.miniwob.solutions import email as email
from benchmarks.miniwob.solutions import exploring as exploring
from benchmarks.miniwob.solutions import feeds as feeds
from benchmarks.miniwob.solutions import forms as forms
from benchmarks.miniwob.solutions import games as games
from benchmarks.miniwob.solutions import geometry as geometry
from benchmarks.miniwob.solutions import reading as reading
from benchmarks.miniwob.solutions import shapes as shapes
from benchmarks.miniwob.solutions import sliders as sliders
from benchmarks.miniwob.solutions import writing as writing

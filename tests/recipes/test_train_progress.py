"""What `webagent train` says while it goes on."""

from recipes import train
from tests.fakes.clock import replace_clock


def test_a_training_tells_how_long_it_will_take(monkeypatch, capsys):
    now = iter([1000.0, 1060.0, 1061.0, 1120.0])
    replace_clock(monkeypatch, train, lambda: next(now))
    progress = train._Progress()
    for done in (0.2, 0.4, 0.41, 1.0):  # it goes on from a fifth
        progress(done, {"loss": 0.5})
    first, second, last = capsys.readouterr().out.splitlines()
    assert first == " 20.0%  loss 0.5"
    assert second == " 40.0%  0:03:00 left  loss 0.5"
    assert last == "100.0%  loss 0.5"

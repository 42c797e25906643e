"""What is said of work that takes long, where no terminal shows a bar."""

import pytest

from pairity import progress, sample, train
from pairity.progress import Log, Progress, duration, rate


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def said(capsys):
    return capsys.readouterr().err.splitlines()


def test_a_line_every_so_often(capsys):
    clock = Clock()
    with Progress(log=Log(30.0, clock)) as show:
        show.stage("learning merges", unit="merges", total=127_744)
        for done in range(0, 12_001, 100):  # 100 merges a second
            show.at(done, "tam_Taml")
            clock.now += 1
    lines = said(capsys)
    assert len(lines) == 4
    assert lines[0] == "learning merges: 3,000 of 127,744 merges (2%), 100 merges/s, 21 min left, tam_Taml"
    assert lines[-1] == "learning merges: 12,000 of 127,744 merges (9%), 100 merges/s, 19 min left, tam_Taml"


def test_the_pace_is_that_of_the_stage_since_the_last_line(capsys):
    clock = Clock()
    with Progress(log=Log(30.0, clock)) as show:
        show.stage("reading train", unit="B")
        show.bytes_read(0, 400_000_000, "eng_Latn")
        clock.now += 40
        show.bytes_read(100_000_000, 400_000_000, "eng_Latn")
        clock.now += 40
        show.bytes_read(300_000_000, 400_000_000, "deu_Latn")
        show.stage("learning merges", unit="merges", total=900)
        clock.now += 40
        show.at(500)  # the first that is heard of this stage, as in a run that is resumed
        clock.now += 40
        show.at(600)
    assert said(capsys) == [
        "reading train: 100.0 of 400.0 MB (25%), 2.5 MB/s, 2 min left, eng_Latn",
        "reading train: 300.0 of 400.0 MB (75%), 5.0 MB/s, 20 s left, deu_Latn",
        "learning merges: 500 of 900 merges (56%)",
        "learning merges: 600 of 900 merges (67%), 2.5 merges/s, 2 min left",
    ]


def test_an_unknown_total_and_a_standstill(capsys):
    clock = Clock()
    with Progress(log=Log(0.0, clock)) as show:
        show.stage("reading", unit="texts")
        show.at(5)
        show.at(5)
        clock.now += 2
        show.at(5)
        clock.now += 2
        show.at(9)
    assert said(capsys) == ["reading: 5 texts"] * 3 + ["reading: 9 texts, 2.0 texts/s"]


@pytest.mark.parametrize(("total", "shown"), [(None, False), (8, True)])
def test_a_bar_has_a_share_only_where_the_total_is_known(total, shown):
    bars = progress.make_bars()
    bars.add_task("counting", total=total, completed=4, unit="B", detail="")
    cells = [str(column.render(bars.tasks[0])) for column in bars.columns]
    assert (" 50%" in cells) == shown
    assert any("%" in cell for cell in cells) == shown


def test_work_that_is_done_sooner_says_nothing(capsys):
    clock = Clock()
    with Progress(log=Log(30.0, clock)) as show:
        show.stage("reading", unit="texts")
        clock.now += 29
        show.at(5)
    assert said(capsys) == []


def test_silence_and_listeners_have_no_log(capsys):
    heard = []
    for show in (False, lambda *news: heard.append(news)):
        with Progress(show, log=Log(0.0)) as progress:
            progress.stage("reading", unit="texts", total=9)
            progress.at(5)
    assert said(capsys) == []
    assert heard == [("reading", 5, 9, "")]


def test_training_without_a_terminal_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    dev = sample.read("dev")
    train(sample.FOLDER / "dev", dev=sample.FOLDER / "dev", num_merges=50)
    lines = said(capsys)
    stages = dict.fromkeys(line.partition(":")[0] for line in lines)
    assert list(stages) == ["reading dev", "reading train", "learning merges"]
    assert "learning merges: 50 of 50 merges (100%)" in lines[-1]
    train(dev, dev=dev, num_merges=50, progress=False)
    assert said(capsys) == []


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (100, "2 min"), (3600, "60 min"), (7800, "2 h 10 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_rates():
    assert rate(48213, "merges") == "48,213 merges/s"
    assert rate(112.4e6, "B") == "112.4 MB/s"
    assert rate(0.25, "texts") == "0.2 texts/s"

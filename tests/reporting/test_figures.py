"""Figures on the page and as files: one drawing for both."""

import csv
import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from pairity.errors import PairityError
from pairity.judging.scores import Scores
from pairity.reporting import export_figures, report
from pairity.reporting.cells import Cells
from pairity.reporting.drawing import draw
from pairity.reporting.figures import figures
from pairity.reporting.labels import (
    LETTER,
    LINE,
    away,
    beside,
    clear_of_each_other,
    log_ticks,
    overlap,
    printable,
    ratio_ticks,
    sideways,
)
from pairity.reporting.look import PALETTE, Look
from pairity.reporting.pictures import for_page
from pairity.reporting.race import race
from pairity.reporting.vega import far_apart, roomy
from pairity.training.trace import Trace
from report_scores import ODD_NAMES, scores, trace_table


def test_every_figure_is_written_as_svg_png_pdf_and_csv(judged: Scores, tmp_path: Path) -> None:
    written = export_figures(
        judged, tmp_path, tokenizers={"characters": SimpleNamespace(trace=trace_table())}
    )
    names = {path.stem for path in written}
    assert names == {
        *("glance", "tradeoff", "costs", "change", "compression", "utilisation", "lorenz"),
        *(f"race_{what}-1-characters" for what in ("costs", "fairness", "served")),
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        f"{name}.{suffix}" for name in names for suffix in ("csv", "svg", "png", "pdf")
    )
    starts = {".svg": b"<svg", ".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-", ".csv": b'"'}
    for path in written:
        assert path.read_bytes().startswith(starts[path.suffix]), path
    with (tmp_path / "costs.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert float(row["cost"]) == judged.value(row["tokenizer"], "cost", row["language"])
    with (tmp_path / "tradeoff.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            assert float(row["gini"]) == judged.value(row["tokenizer"], "gini")


def texts_of(svg: str) -> list[str]:
    return [str(one.text) for one in ElementTree.fromstring(svg).iter() if one.tag.endswith("text")]


def test_a_figure_in_a_file_stands_alone(judged: Scores, tmp_path: Path) -> None:
    export_figures(judged, tmp_path)
    for name in ("glance", "tradeoff", "change", "compression", "lorenz"):
        svg = (tmp_path / f"{name}.svg").read_text("utf-8")
        shown = texts_of(svg)
        assert not any(one.title in shown for one in figures(Cells(judged))), "a paper has captions"
        assert any(text.startswith("characters") for text in shown), "the legend"
        assert "characters · 4k" in shown or name == "tradeoff", "with the size"
        assert "aria-label" not in svg
        assert "var(--" not in svg


def test_a_figure_on_the_page_is_the_figure_of_the_file(judged: Scores) -> None:
    look = Look(judged.tokenizers, "bytes")
    drawn = {
        one.name: one for one in figures(Cells(judged), {"characters": race(Trace.from_table(trace_table()))})
    }
    for name, figure in drawn.items():
        pictures = for_page(figure, look)
        assert pictures == for_page(figure, look), "the same every time"
        for svg in pictures:
            root = ElementTree.fromstring(svg)
            colours = {one.get(what) for one in root.iter() for what in ("fill", "stroke")} - {None, "none"}
            assert colours, name
            assert all(str(colour).startswith("var(--") for colour in colours), colours
            keys = [int(one.attrib["data-row"]) for one in root.iter() if "data-row" in one.attrib]
            lines = [one for one in root.iter() if "data-line" in one.attrib]
            rows = len(figure.rows())
            if lines:  # every vertex of a line is a row
                vertices = sum(one.attrib["d"].count("L") + 1 for one in lines)
                assert vertices == (2 * rows if name == "race_fairness" else rows)
            else:
                assert sorted(keys) == list(range(rows)), name


def test_marks_know_their_tokenizer_and_their_row(judged: Scores) -> None:
    figure = next(one for one in figures(Cells(judged)) if one.name == "compression")
    (root, _) = (ElementTree.fromstring(svg) for svg in for_page(figure, Look(judged.tokenizers, "bytes")))
    points = [one.attrib for one in root.iter() if "data-row" in one.attrib]
    for point in points:
        row = figure.rows()[int(point["data-row"])]
        assert judged.tokenizers[int(point["data-t"])] == row["tokenizer"]
    assert {point["d"] for point in points if point["data-t"] == "0"}.isdisjoint(
        {point["d"] for point in points if point["data-t"] == "1"}
    ), "shapes differ too, not only colours"


def test_no_name_can_break_a_drawing(tmp_path: Path) -> None:
    names = ("a\x07b\nc\x00", "</svg><script>alert(1)</script>", "\u202eturned", "'] + datum + ['", "abc")
    plain = ("first", *names[1:])
    judged = scores(plain).only(
        dict(zip(plain, names, strict=True))
    )  # made elsewhere: `evaluate` refuses line feeds
    page = report(judged, tmp_path / "r.html").read_text("utf-8")
    assert "<script>alert" not in page
    export_figures(judged, tmp_path)
    shown = texts_of((tmp_path / "change.svg").read_text("utf-8"))
    assert any(text.startswith("</svg><script>") for text in shown)
    assert "'] + datum + [' · 4k" in shown
    assert Look(["a b", "a\nb", "c"], "c").label("a\nb") == "a b (2)", "two labels are never the same"


def test_names_beside_points_cover_neither_points_nor_each_other_and_are_nearest_to_their_own() -> None:
    crowd = [(f"tokenizer {index}", 200.0 + 12 * (index % 3), 100.0 + 19 * index) for index in range(8)]
    crowd.append(("far from all", 400.0, 200.0))
    placed = beside(crowd, (500, 300))
    boxes = []
    for (name, x, y), place in zip(crowd, placed, strict=True):
        if place is None:
            continue
        left = place.x - {"left": 0, "center": 0.5, "right": 1}[place.align] * len(name) * LETTER
        box = (left, left + len(name) * LETTER, place.y - 11, place.y + 2)
        boxes.append(box)
        if place.line:
            assert place.line[:2] == (x, y)
            assert away(place.line[2:], box) < 3, "the line ends at the name"
            continue
        assert away((x, y), box) < 25
        others = [(one, other) for _, one, other in crowd if (one, other) != (x, y)]
        assert all(away(other, box) > away((x, y), box) for other in others), name
    assert len(boxes) > 5
    assert not any(overlap(one, other) for one, other in itertools.combinations(boxes, 2))
    assert not any(overlap(box, (x, x, y, y)) for box in boxes for _, x, y in crowd)
    corner = beside([("at the edge", 495.0, 5.0)], (500, 300))
    assert corner[0] is not None
    assert corner[0].align == "right"
    assert corner[0].y > 5


def test_a_name_that_could_be_that_of_another_point_has_a_line_to_its_own_or_is_left_out() -> None:
    tight = [(f"setting {index}", 200.0 + 3 * index, 150.0 + 3 * index) for index in range(5)]
    first, *inner, last = beside(tight, (500, 300))
    assert first is not None
    assert last is not None
    assert first.line is last.line is None
    assert all(place is None or place.line for place in inner)
    wall = [(x, x + 10, 0.0, 300.0) for x in (180.0, 220.0)]
    assert None in beside(tight, (240, 170), wall)
    assert None not in beside([("one", 200.0, 150.0), ("the same", 200.0, 150.0)], (500, 300))


def test_a_name_that_a_whisker_would_strike_through_is_left_to_the_legend() -> None:
    above_it = (0.0, 500.0, 138.0, 142.0)
    [free] = beside([("struck", 250.0, 150.0)], (500, 300), [above_it])
    assert free is not None
    assert free.y > 150, "below the point, where no line is"
    everywhere = [(0.0, 500.0, float(y), y + 2.0) for y in range(0, 300, 8)]
    assert beside([("struck", 250.0, 150.0)], (500, 300), everywhere) == [None]


def test_markers_of_many_tokenizers_do_not_cover_each_other() -> None:
    many = scores([f"tokenizer {index}" for index in range(8)], resamples=20)
    found = {one.name: one for one in figures(Cells(many))}
    for name in ("costs", "change"):
        spec = draw(found[name], Look(many.tokenizers, "tokenizer 0"), 640)
        [dots] = [one for one in spec["layer"] if one["mark"]["type"] == "point"]
        shifts = sorted({row["shift"] for row in dots["data"]["values"]})
        across = math.sqrt(dots["mark"]["size"])
        assert min(after - before for before, after in itertools.pairwise(shifts)) >= across - 0.1
        assert spec["height"]["step"] > shifts[-1] - shifts[0] + across, "rows stay apart, too"
    assert roomy(17, 2, 200) == 17
    assert roomy(17, 8, 200) == 17, "no figure gets too tall"


def test_one_outlier_does_not_flatten_the_change_chart(judged: Scores) -> None:
    figure = next(one for one in figures(Cells(judged)) if one.name == "change")
    changes = [-0.1 + 0.02 * index for index in range(len(figure.columns["change"]) - 1)] + [4.52]
    outlying = replace(figure, columns={**figure.columns, "change": changes, "low": changes, "high": changes})
    spec = draw(outlying, Look(judged.tokenizers, "bytes"), 840)
    scale = spec["layer"][0]["encoding"]["x"]["scale"]
    assert scale["type"] == "log"
    low, high = scale["domain"]
    assert low < 0.9 < 5.52 < high
    span = math.log(high / low)
    assert math.log(1.0 / 0.9) / span > 0.05, "a tenth is still seen"
    ticks = ratio_ticks(low, high, 12)
    assert 1 in ticks
    assert ticks[-1] > 2
    assert all(low <= tick <= high for tick in ticks)
    assert far_apart([1.0, 1.1, 1.2, 6.0])
    assert not far_apart([1.0, 1.1, 1.2, 1.3])
    assert not far_apart([0.0, 1.1, 1.2, 9.0]), "a logarithm has no 0"


def test_every_row_of_compression_panels_has_values_on_its_axis(judged: Scores) -> None:
    figure = next(one for one in figures(Cells(judged)) if one.name == "compression")
    for svg in for_page(figure, Look(judged.tokenizers, "bytes")):
        shown = texts_of(svg)
        assert sum(text == "0" for text in shown) >= 1
        numbers = [float(text) for text in shown if text.replace(".", "").isdigit()]
        assert max(numbers) > 0
        assert max(numbers) <= max(figure.columns["high"]) * 1.05


def test_colours_of_a_run_are_those_of_its_tokenizer_and_shades_have_a_key(judged: Scores) -> None:
    look = Look(judged.tokenizers, "bytes")
    run = {"characters": race(Trace.from_table(trace_table()))}
    drawn = {one.name: one for one in figures(Cells(judged), run)}
    for name in ("race_costs", "race_fairness", "race_served"):
        for svg in for_page(drawn[name], look):
            used = set(re.findall(r"var\(--(c\d|base)\)", svg))
            assert used <= {look.colour("characters")}, (name, used)
    shown = texts_of(for_page(drawn["race_served"], look)[0])
    assert any(text.endswith("% of a stretch") for text in shown)


def test_labels_that_would_touch_move_apart() -> None:
    assert clear_of_each_other([10.0, 90.0]) == [10.0, 90.0]
    upper, lower = clear_of_each_other([50.0, 51.0])
    assert lower - upper == LINE
    assert log_ticks(300, 20_000, 8) == [500, 1000, 2000, 5000, 10000, 20000]
    assert log_ticks(300, 20_000, 3) == [1000, 10000]
    assert log_ticks(20, 60, 10) == [20, 30, 50]
    assert sideways([10, 11, 12, 40], step=8, most=20) == [0, -8, 8, 0]
    assert printable("a\n b\x07\tc" + "d" * 80, 10) == "a b cdddd…"


def test_light_colours_of_the_page_are_those_of_the_files() -> None:
    assert {"paper", "ink", "soft", "line", "base", *(f"c{index}" for index in range(8))} <= PALETTE.keys()
    used = [PALETTE[name] for name in ("paper", "ink", "soft", "line", "base")]
    used += [PALETTE[f"c{index}"] for index in range(8)]
    assert len(set(used)) == len(used), "a colour is replaced by its name, so no two may be the same"


def test_figures_of_odd_names_and_of_one_language(tmp_path: Path) -> None:
    odd = scores(ODD_NAMES[:3])
    assert len(
        export_figures(odd, tmp_path / "odd", tokenizers={ODD_NAMES[0]: SimpleNamespace(trace=trace_table())})
    )
    assert (tmp_path / "odd" / "race_costs-1-script-alert-1-script.svg").exists()
    assert "<script" not in (tmp_path / "odd" / "tradeoff.svg").read_text("utf-8")
    names = {path.stem for path in export_figures(scores(languages=["eng_Latn"]), tmp_path / "one")}
    assert "costs" in names
    assert not names & {"lorenz", "tradeoff"}
    with pytest.raises(PairityError, match="nothing to plot"):
        export_figures(scores(metrics=["round_trip"]), tmp_path / "none")

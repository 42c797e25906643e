"""The top of the page: tokenizers of similar size together, and one chart of two of them."""

import itertools
from pathlib import Path

import pytest

from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.reporting import report
from pairity.reporting.glance import draw_glance, glance, with_room
from pairity.reporting.look import Look
from pairity.reporting.numbers import short_size
from pairity.reporting.scoreboard import about_sizes, alike, rivals, scoreboard
from report_page import Page
from report_scores import TEXTS, Chunks, scores
from small_tokenizers import small


def of_sizes(**sizes: int) -> Scores:
    """Tokenizers that cut every other character, or every second byte, and claim these sizes."""
    given = {}
    for index, (name, size) in enumerate(sizes.items()):
        given[name] = Chunks(name, 2, by_character=index > 0)
        given[name].vocab_size = size
    return evaluate(given, TEXTS, baseline=next(iter(sizes)), resamples=20)


def cut(**options: object) -> Scores:
    """Two tokenizers that can be cut and one that cannot."""
    other = Chunks("other", 2)
    other.vocab_size = 300
    given = {"large": small(merges=300), "small": small(merges=50), "other": other}
    return evaluate(given, TEXTS, **{"baseline": "large", "sizes": [300, 500], "resamples": 0, **options})  # type: ignore[arg-type]


def shown(groups: list) -> list[list[str]]:
    return [[row.member for row in group.rows] for group in groups]


def test_the_scoreboard_has_five_columns_and_the_numbers_of_the_scores(page: Page, judged: Scores) -> None:
    head, *rows = page.tables["scoreboard"]
    assert [cell.text.replace("\xa0", " ") for cell in head] == [
        "Tokenizer",
        "Size",
        "Gini ↓",
        "Tokens per line ↓",
        "English’s cost ↓",
    ]
    assert [row[0].text for row in rows] == ["characters", "bytesbaseline"], "the most equal first"
    for row, name in zip(rows, ("characters", "bytes"), strict=True):
        assert row[1].text.startswith("4,000")
        expected = [
            judged.value(name, "gini"),
            judged.value(name, "cost"),
            judged.value(name, "cost", "eng_Latn"),
        ]
        assert [float(cell.value) for cell in row[2:]] == expected
    assert [cell.best for cell in rows[0]][2:4] == [True, True]
    assert "about-sizes" not in [found.get("id") for _, found in page.tags], "sizes are the same"


def test_it_comes_first_and_the_chart_beside_it(page: Page) -> None:
    sections = [found["id"] for tag, found in page.tags if tag == "section"]
    assert sections[0] == "summary"
    charts = [found["data-chart"] for tag, found in page.tags if tag == "figure"]
    assert charts[0] == "glance"


def test_tokenizers_of_like_size_stand_together() -> None:
    groups = scoreboard(of_sizes(gpt=200_000, ours=32_000, near=30_000, tiny=8_000))
    assert [{row.tokenizer for row in group.rows} for group in groups] == [
        {"gpt"},
        {"ours", "near"},
        {"tiny"},
    ]
    said = about_sizes(groups)
    assert "tiny has 8,000 tokens, gpt 200,000" in said
    assert "which are grouped" in said
    assert alike([100, 110])
    assert not alike([100, 111])
    assert about_sizes(scoreboard(of_sizes(a=32_000, b=32_768))) == ""


def test_where_none_are_of_like_size_the_page_says_what_to_do(tmp_path: Path) -> None:
    judged = of_sizes(gpt=200_000, ours=32_000)
    page = Page(report(judged, tmp_path / "r.html"))
    assert "pairity eval --sizes 32000 evaluates pairity tokenizers truncated to that size" in page.text
    assert "Note the sizes: 32,000 tokens and 200,000." in page.text
    assert not any(cell.best for row in page.tables["scoreboard"] for cell in row), "nothing to compare with"


def test_cut_tokenizers_are_shown_beside_those_of_their_size() -> None:
    groups = scoreboard(cut())
    assert [set(members) for members in shown(groups)] == [
        {"large@500"},
        {"large@300", "small@300", "other"},
    ]
    by_member = {row.member: row for group in groups for row in group.rows}
    assert by_member["large@300"].cut
    assert not by_member["large@500"].cut
    assert not by_member["small@300"].cut
    two = rivals(groups, "large")
    assert two[0].member == "large@300", "the baseline at a size that others have"
    assert two[1].tokenizer != "large"


def test_the_chart_shows_the_baseline_and_the_most_equal_at_one_size() -> None:
    judged = cut()
    figure = glance(judged)
    rows = figure.rows()
    assert {row["tokenizer"] for row in rows} == {"large", rivals(scoreboard(judged), "large")[1].tokenizer}
    assert {row["vocab_size"] for row in rows} == {300}
    assert figure.sizes == dict.fromkeys({row["tokenizer"] for row in rows}, 300)
    for row in rows:
        member = f"{row['tokenizer']}@300" if row["tokenizer"] != "other" else "other"
        assert row["cost"] == judged.value(member, "cost", row["language"])
    assert "300 tokens" in figure.caption
    costs = judged.costs("large@300")
    assert figure.order == sorted(figure.order, key=lambda code: -costs[code])


def test_a_tokenizer_that_saw_the_text_is_the_rival_of_last_resort() -> None:
    judged = of_sizes(base=4000, leaky=4000, honest=4000)
    judged.leaks = {"leaky": list(TEXTS)}
    assert rivals(scoreboard(judged), "base")[1].tokenizer == "honest"
    losing = of_sizes(base=4000, losing=4000, honest=4000)
    losing.meta["losses"] = {"losing": {"eng_Latn": 2}}
    assert rivals(scoreboard(losing), "base")[1].tokenizer == "honest"


@pytest.mark.parametrize("metrics", [["cost"], ["gini"], ["round_trip"]])
def test_scores_without_some_of_it_still_have_a_top(metrics: list[str], tmp_path: Path) -> None:
    page = Page(report(scores(metrics=metrics), tmp_path / "r.html"))
    assert len(page.tables["scoreboard"]) == 3
    one = glance(scores(["bytes"]))
    assert {row["tokenizer"] for row in one.rows()} == {"bytes"}


def test_with_many_languages_only_names_with_room_are_written() -> None:
    figure = glance(scores())
    codes = figure.order
    assert with_room(codes, 16, figure) == codes
    few = with_room(codes, 5, figure)
    assert codes[0] in few
    assert len(few) < len(codes)
    places = [codes.index(code) for code in few]
    assert all(after - before >= 3 for before, after in itertools.pairwise(places))
    spec = draw_glance(figure, Look(["bytes", "characters"], "bytes"), 440)
    assert spec["height"] == {"step": 16.0}


def test_sizes_in_few_letters() -> None:
    assert [short_size(size) for size in (264, 4000, 32_768, 50_257, 200_019)] == [
        "264",
        "4k",
        "32.8k",
        "50.3k",
        "200k",
    ]
    assert Look(["a"], "a", {"a": 32_000}).label("a") == "a · 32k"

"""Tables on every screen, and a language of the race, in a real browser: make test-browser."""

from pathlib import Path

import pytest

from pairity.judging.evaluation import evaluate
from pairity.reporting import report
from report_scores import TEXTS, scores, tokenizers

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight tokenizers, some with long names."""
    long = ["organisation/a-name-that-is-rather-long", "superwords and joint 1200", "window=200"]
    given = tokenizers([*(f"tokenizer-{index}" for index in range(5)), *long])
    judged = evaluate(given, TEXTS, baseline="tokenizer-0", resamples=20)
    return report(judged, tmp_path_factory.mktemp("crowded") / "r.html")


CUT_OFF = """() => [...document.querySelectorAll("table")].filter((one) => one.offsetParent !== null).map((table) => {
  const box = table.closest(".scroll, .table"), beyond = box.scrollWidth - box.clientWidth;
  return { beyond, hint: box.previousElementSibling?.matches(".hint:not([hidden])") ?? false,
           fades: box.classList.contains("more"), name: box.ariaLabel };
})"""


# The page looks at its tables while a frame is drawn. (Playwright's wait_for_function would evaluate text inside the
# page, which the page's own policy forbids.)
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.mark.parametrize("width", [1280, 375])
def test_no_table_is_cut_off_without_a_hint(visit, crowded: Path, width: int) -> None:  # type: ignore[no-untyped-def]
    page = visit(crowded, width=width)
    for details in page.locator("main > section > details").all():
        details.locator("summary").first.click()
    page.evaluate(TWO_FRAMES)
    tables = page.evaluate(CUT_OFF)
    assert len(tables) > 5
    for table in tables:
        assert (table["beyond"] >= 2) == table["hint"] == table["fades"], table
    cut = [table for table in tables if table["hint"]]
    assert bool(cut) == (width == 375), "on a screen, eight tokenizers have room"
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if cut:
        box = page.locator("#overall .scroll").first
        box.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
        page.evaluate(TWO_FRAMES)
        assert not box.evaluate("e => e.classList.contains('more')")
        assert page.locator("#overall .hint").first.is_visible(), "nothing jumps while it is scrolled"


# Between wbr elements, text nodes end where a name may break.
BROKEN = r"""() => [...document.querySelectorAll("thead .tok, #scoreboard .tok")].flatMap((name) => {
  if (!name.offsetParent) return [];
  const found = name.scrollHeight - name.clientHeight > 1 ? [`cut off: ${name.title}`] : [];
  for (const node of name.childNodes) for (const word of node.data?.matchAll(/\S+/g) ?? []) {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) found.push(word[0]);
  }
  return found;
})"""


@pytest.mark.parametrize("width", [1280, 375])
def test_names_in_tables_are_whole_and_break_only_between_their_parts(
    visit, crowded: Path, width: int
) -> None:  # type: ignore[no-untyped-def]
    page = visit(crowded, width=width)
    for details in page.locator("main > section > details").all():
        details.locator("summary").first.click()
    assert page.locator("thead .tok:visible").count() > 40
    assert page.evaluate(BROKEN) == []


def test_the_first_column_stays_in_view_on_a_phone(visit, crowded: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(crowded, width=375)
    for section in ("overall", "languages", "groups"):
        box = page.locator(f"#{section} .scroll").first
        for cell in (box.locator("thead th").first, box.locator("tbody th").first):
            before = cell.bounding_box()
            box.evaluate("e => { e.scrollLeft = 120; }")
            assert box.evaluate("e => e.scrollLeft") > 50, section
            assert cell.bounding_box()["x"] == pytest.approx(before["x"], abs=1), section
            box.evaluate("e => { e.scrollLeft = 0; }")


def test_the_fade_leaves_the_caption_and_lines_go_on_under_the_first_column(visit, crowded: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(crowded, width=375)
    page.evaluate(TWO_FRAMES)
    box = page.locator("#overall .scroll").first
    caption = box.locator("caption").bounding_box()["height"]
    assert caption > 40, "some lines"
    first, rest = box.evaluate("e => getComputedStyle(e).maskSize").split(", ")
    assert first.startswith("100% ")
    assert float(first.split()[1].removesuffix("px")) == pytest.approx(caption, abs=1)
    assert rest == "auto"
    # Of collapsed borders, Chromium loses some under cells that stay in view.
    assert box.locator("table").evaluate("e => getComputedStyle(e).borderCollapse") == "separate"
    assert box.locator("tbody th").first.evaluate("e => getComputedStyle(e).borderBottomWidth") == "1px"


def test_the_scoreboard_fits_a_phone(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path, width=375)
    box = page.locator("#summary .scroll")
    assert box.evaluate("e => e.scrollWidth - e.clientWidth") == 0
    assert page.locator("#scoreboard .short").first.is_visible()


def test_a_language_of_the_race_can_be_picked(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    assert page.locator("#race .picked").count() == 0
    page.locator("#race .pick").select_option("tel_Telu")
    says = page.locator("#race .picked-says").inner_text()
    assert says == "60 → 20 tokens per line; served by 4 of 8 merges"
    line = page.locator('figure[data-chart="race_costs"] svg.wide .picked')
    assert line.count() == 1
    colour = line.evaluate("e => getComputedStyle(e).stroke")
    assert colour == "rgb(11, 107, 184)", "the colour of the tokenizer that was trained"
    served = page.locator('figure[data-chart="race_served"] svg.wide')
    assert served.locator(".picked").count() == 4
    assert served.locator(".dim").count() == served.locator("[data-row]").count() - 4
    page.locator("#race .pick").select_option("")
    assert page.locator("#race .picked, #race .dim").count() == 0
    assert page.locator("#race .picked-says").inner_text() == ""


def test_model_scores_stand_beside_costs_and_answer_to_the_pointer(visit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    rows = [f"{name},{code},bits_per_byte,1.5" for name in ("bytes", "characters") for code in TEXTS]
    (tmp_path / "m.csv").write_text("\n".join(["tokenizer,language,measure,value", *rows]))
    path = report(scores(), tmp_path / "r.html", model_scores=tmp_path / "m.csv")
    for width in (1280, 375):
        page = visit(path, width=width)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        drawing = page.locator("#models .plot > svg:visible")
        assert drawing.locator("[data-row]").count() == 2 * 2 * len(TEXTS)
        drawing.locator("[data-row]").last.hover(force=True)
        assert "Bits per byte 1.500" in page.locator("#tip").inner_text()
        page.locator("#models .legend button").first.click()
        assert drawing.locator("[data-row]:visible").count() == 2 * len(TEXTS)
        assert page.locator("#models table tbody tr").count() == len(TEXTS)

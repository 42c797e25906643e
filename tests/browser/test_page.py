"""The report in a real browser, with the network off: make test-browser."""

from pathlib import Path

import pytest

from pairity.judging.evaluation import evaluate
from pairity.reporting import report
from report_scores import ODD_NAMES, TEXTS, Traced, scores, tokenizers
from small_tokenizers import small

pytestmark = pytest.mark.browser


def costs(page, column: int) -> list[float]:  # type: ignore[no-untyped-def]
    cells = page.locator(f"#language-table tbody tr:visible td:nth-child({column})")
    return [float(cell.get_attribute("data-value")) for cell in cells.all()]


def names(page) -> list[str]:  # type: ignore[no-untyped-def]
    return page.locator("#language-table tbody tr:visible .name").all_inner_texts()


def test_it_opens_and_draws_every_figure(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    figures = page.locator("figure.chart")
    assert figures.count() == 9
    for figure in figures.all():
        drawing = figure.locator(".plot > svg:visible")
        assert drawing.count() == 1
        assert "arrow keys" in str(drawing.get_attribute("aria-label"))
        assert drawing.locator("path, line").count() > 3
        assert drawing.locator("[data-row]").count() > 0


def test_columns_sort_both_ways_and_say_so(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    assert costs(page, 4) == sorted(costs(page, 4), reverse=True), (
        "opens with the most expensive under the baseline"
    )
    head = page.locator('#language-table th[data-sort="1"]')
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert costs(page, 5) == sorted(costs(page, 5), reverse=True)
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert costs(page, 5) == sorted(costs(page, 5))
    page.locator('#language-table th[data-sort="name"] button').click()
    assert names(page) == sorted(names(page))
    assert page.locator('#language-table th[aria-sort="none"]').count() == 4


def test_filters_by_script_level_and_name(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    page.select_option("#script", "Latin")
    assert sorted(names(page)) == ["English", "xyz_Latn"]
    assert page.locator("#shown").inner_text() == "2 of 5 languages"
    page.select_option("#level", "unknown")
    assert names(page) == ["xyz_Latn"]
    page.fill("#find", "telugu")
    assert names(page) == []
    page.get_by_role("button", name="Show all").click()
    assert len(names(page)) == 5
    page.fill("#find", "heb_")
    assert names(page) == ["Hebrew"]


def test_another_measure_fills_the_table(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    before = costs(page, 4)
    page.select_option("#measure", "compression_rate_line")
    after = costs(page, 4)
    assert sorted(1 / value for value in after) == pytest.approx(sorted(before))
    assert "higher is better" in page.locator("#measure-title").inner_text()


def test_intervals_show_on_hover_on_focus_and_on_demand(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    tip, strips = page.locator("#tip"), page.locator("#language-table tbody .strip svg")
    strips.first.hover()
    assert tip.is_visible()
    assert " to " in tip.inner_text()
    assert "characters:" in tip.inner_text()
    page.mouse.move(5, 5)
    assert tip.is_hidden()
    strips.first.focus()
    first = tip.inner_text()
    page.keyboard.press("ArrowDown")
    assert tip.is_visible()
    assert tip.inner_text() != first
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    assert page.locator("#language-table .interval").first.is_hidden()
    page.check("#intervals")
    assert page.locator("#language-table .interval").first.is_visible()


def test_figures_answer_to_mouse_and_keyboard(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    tip = page.locator("#tip")
    drawing = page.locator('figure[data-chart="tradeoff"] .plot > svg')
    drawing.locator("path[data-row]").first.hover()
    assert "Gini" in tip.inner_text()
    assert "bytes" in tip.inner_text()
    page.mouse.move(5, 5)
    page.locator('figure[data-chart="tradeoff"] .legend button').last.focus()
    page.keyboard.press("Tab")
    seen = {tip.inner_text()}
    page.keyboard.press("ArrowRight")
    seen.add(tip.inner_text())
    assert len(seen) == 2
    assert all("Gini" in text for text in seen)


def test_a_tokenizer_can_be_hidden_everywhere(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    points = page.locator('figure[data-chart="compression"] .plot [data-row]:visible').count
    before = points()
    page.locator('figure[data-chart="tradeoff"] .legend button').first.click()
    assert points() == before // 2
    assert page.locator('figure[data-chart="lorenz"] .legend button[aria-pressed="false"]').count() == 1
    page.locator('figure[data-chart="tradeoff"] .legend button').last.click()
    assert page.locator('figure[data-chart="compression"] .missing').is_visible()
    assert points() == 0
    page.locator('figure[data-chart="tradeoff"] .legend button').last.click()
    assert points() == before // 2
    assert page.locator('figure[data-chart="compression"] .missing').is_hidden()


def test_the_data_of_a_figure_and_its_csv(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    figure = page.locator('figure[data-chart="change"]')
    figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()  # the table is made when the browser tells of the opening
    assert figure.locator("tbody tr").count() == 5
    with page.expect_download() as waiting:
        figure.get_by_role("button", name="Save as CSV").click()
    lines = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert lines[0].startswith("tokenizer,language,name")
    assert len(lines) == 6


def lightness(page) -> float:  # type: ignore[no-untyped-def]
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in colour[4:-1].split(",")) / 3


def test_dark_and_light_by_the_system_and_by_the_button(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    assert lightness(visit(path)) > 240
    page = visit(path, scheme="dark")
    assert lightness(page) < 40
    page.click("#theme")
    assert page.locator("#theme").inner_text() == "Theme: light"
    assert lightness(page) > 240
    page.click("#theme")
    assert page.locator("#theme").inner_text() == "Theme: dark"
    assert lightness(page) < 40
    page.emulate_media(media="print")
    assert lightness(page) > 240, "paper is white"


def test_sentences_are_cut_side_by_side(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    viewer = page.locator("#viewer")
    hebrew = viewer.locator("article", has_text="heb_Hebr")
    assert hebrew.locator(".tokens").first.get_attribute("dir") == "rtl"
    box = page.locator('#viewer-languages input[value="tel_Telu"]')
    box.check()
    telugu = viewer.locator("article", has_text="tel_Telu")
    counts = telugu.locator(".cut-head b").all_inner_texts()
    assert counts == [f"{telugu.locator('.cut').nth(i).locator('.token').count()} tokens" for i in (0, 1)]
    assert telugu.locator(".cut").nth(0).locator(".byte").count() > 0, "bytes cut characters"
    assert telugu.locator(".cut").nth(1).locator(".byte").count() == 0, "characters do not"
    assert telugu.locator(".tokens").nth(1).inner_text() == TEXTS["tel_Telu"][0]
    page.select_option("#sentence", "1")
    assert telugu.locator(".tokens").nth(1).inner_text() == TEXTS["tel_Telu"][1]
    box.uncheck()
    assert telugu.count() == 0
    tokens = page.locator("#viewer .token")
    style = tokens.first.evaluate("e => getComputedStyle(e).outlineStyle")
    colours = {one.evaluate("e => getComputedStyle(e).backgroundColor") for one in tokens.all()[:2]}
    assert style == "solid"
    assert len(colours) == 2


STICKS_OUT = """() => [...document.querySelectorAll("#viewer .byte")].filter((one) => {
  const column = one.closest(".tokens").getBoundingClientRect();
  return [...one.getClientRects()].some((box) => box.left < column.left - 0.5 || box.right > column.right + 0.5);
}).length"""


def test_bytes_stay_in_the_column_of_a_sentence(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    for box in page.locator("#viewer-languages input").all():
        box.check()
    assert page.locator("#viewer .byte").count() > 20
    for width in range(320, 420, 7):  # where lines end depends on the width
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(STICKS_OUT) == 0, width


@pytest.mark.parametrize("odd", [False, True])
def test_a_phone_needs_no_sideways_scroll(visit, path: Path, odd: bool, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    if odd:
        path = report(
            scores(ODD_NAMES), tmp_path / "r.html", tokenizers=tokenizers(ODD_NAMES), sentences=TEXTS
        )
    page = visit(path, width=375)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    for details in page.locator("details").all():
        details.locator("summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    assert page.locator('figure[data-chart="tradeoff"] .plot > svg').bounding_box()["width"] <= 375


def letters(page, chart: str) -> float:  # type: ignore[no-untyped-def]
    """How many pixels high the letters of a figure are on the screen."""
    drawing = page.locator(f'figure[data-chart="{chart}"] .plot > svg:visible')
    return drawing.evaluate("e => 12 * e.getBoundingClientRect().width / e.viewBox.baseVal.width")


@pytest.mark.parametrize("width", [360, 390, 620, 768, 1000, 1200, 1600])
def test_letters_of_figures_can_be_read_on_every_screen(visit, path: Path, width: int) -> None:  # type: ignore[no-untyped-def]
    page = visit(path, width=width)
    for chart in ("tradeoff", "lorenz", "change", "compression", "utilisation", "race_costs"):
        assert 8.5 <= letters(page, chart) <= 18, chart


def test_a_page_that_changes_size_changes_its_figures(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    drawing = page.locator('figure[data-chart="compression"] .plot > svg:visible')
    assert drawing.get_attribute("class") == "wide"
    page.set_viewport_size({"width": 400, "height": 800})
    assert drawing.get_attribute("class") == "narrow"
    drawing.locator("[data-row]").last.hover()
    assert "characters" in page.locator("#tip").inner_text()


def test_colours_of_figures_follow_the_theme(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    mark = 'figure[data-chart="tradeoff"] [data-row="1"]'
    pages = [visit(path, scheme=scheme) for scheme in ("light", "dark")]
    colours = [page.locator(mark).evaluate("e => getComputedStyle(e).fill") for page in pages]
    assert colours == ["rgb(11, 107, 184)", "rgb(108, 182, 255)"]


def test_keys_walk_along_the_marks(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    tip, ring = page.locator("#tip"), page.locator('figure[data-chart="change"] .wide .ring')
    page.locator('figure[data-chart="change"] .legend button').last.focus()
    page.keyboard.press("Tab")
    first = tip.inner_text()
    assert ring.is_visible()
    page.keyboard.press("End")
    last = tip.inner_text()
    assert last != first
    page.keyboard.press("ArrowDown")
    assert tip.inner_text() == first, "after the last comes the first"
    page.keyboard.press("ArrowUp")
    assert tip.inner_text() == last
    page.keyboard.press("Home")
    assert tip.inner_text() == first
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    assert ring.is_hidden()


def test_the_line_of_a_language_lights_up(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    drawing = page.locator('figure[data-chart="race_costs"] .plot > svg.wide')
    drawing.scroll_into_view_if_needed()
    box = drawing.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.1, box["y"] + box["height"] * 0.2)
    assert page.locator("#tip").inner_text().startswith("Telugu")
    assert "tokens per line at 2" in page.locator("#tip").inner_text()
    assert drawing.locator(".lit").count() == 1
    names = drawing.locator("text").all_text_contents()
    assert "Telugu" in names, "the most expensive"
    assert "English" in names, "the cheapest"
    page.mouse.move(5, 5)
    assert drawing.locator(".lit").count() == 0


def test_a_tap_shows_a_tooltip_that_stays(browser, path: Path) -> None:  # type: ignore[no-untyped-def]
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    tip = page.locator("#tip")
    for chart, said in (("tradeoff", "Gini"), ("race_costs", "tokens per line")):
        drawing = page.locator(f'figure[data-chart="{chart}"] .plot > svg:visible')
        drawing.locator("[data-row]").first.tap(force=True)  # the middle of a line may lie beside it
        assert said in tip.inner_text()
        assert tip.is_visible()
    page.locator("h1").tap()
    assert tip.is_hidden()
    context.close()


def test_figures_need_no_script(browser, path: Path) -> None:  # type: ignore[no-untyped-def]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("figure.chart .plot > svg:visible").count() == 9
    context.close()


def test_paper_shows_all_training_runs(visit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    runs = {name: Traced(name, 2, by_character=True) for name in ("bytes", "characters")}
    page = visit(report(scores(), tmp_path / "r.html", tokenizers=runs))
    assert page.locator(".run:visible").count() == 1
    page.select_option("#run", "1")
    assert page.locator('.run[data-run="1"]').is_visible()
    page.emulate_media(media="print")
    assert page.locator(".run:visible").count() == 2


def test_odd_names_are_shown_and_do_nothing(visit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    cutters = tokenizers(ODD_NAMES)
    page = visit(report(scores(ODD_NAMES), tmp_path / "r.html", tokenizers=cutters, sentences=TEXTS))
    page.on("dialog", lambda dialog: pytest.fail(f"a name ran as a script: {dialog.message}"))
    shown = page.locator('figure[data-chart="tradeoff"] .legend bdi').all_inner_texts()
    assert [" ".join(text.split()) for text in shown] == [" ".join(name.split()) for name in ODD_NAMES]


@pytest.mark.parametrize(
    "options", [{"languages": ["eng_Latn"]}, {"metrics": ["round_trip"]}, {"baseline": None}]
)
def test_poor_scores_still_make_a_page_that_works(visit, options: dict, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(report(scores(**options), tmp_path / "r.html"))
    assert page.locator("h2").count() > 4
    assert page.locator(".missing:visible").count() > 0


def test_the_figure_of_sizes_can_be_pointed_at_and_hides_a_tokenizer(visit, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    given = {"ours": small(merges=300), "bytes": tokenizers()["bytes"]}
    page = visit(report(evaluate(given, TEXTS, sizes=[300, 500], resamples=20), tmp_path / "r.html"))
    marks = page.locator("#sizes svg.wide [data-row]")
    assert marks.count() == 3 * (2 + 1)
    marks.first.hover(force=True)
    assert page.locator("#tip").inner_text().startswith("ours, 300 tokens\nGini ")
    page.locator("#sizes .legend button").first.click()
    assert page.locator("#sizes svg.wide [data-row]:not(.off)").count() == 3


def test_motion_is_left_out_where_it_is_not_wanted(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
    assert visit(path).evaluate(behaviour) == "smooth"
    assert visit(path, reduced=True).evaluate(behaviour) == "auto"


def test_the_tab_key_reaches_what_can_be_used(visit, path: Path) -> None:  # type: ignore[no-untyped-def]
    page = visit(path)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = []
    for _ in range(90):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
    for wanted in ("theme", "A", "measure", "script", "level", "find", "intervals", "svg", "SUMMARY"):
        assert wanted in reached, wanted

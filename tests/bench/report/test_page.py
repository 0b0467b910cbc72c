"""The page of a report: what html() writes, and what a real browser makes of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pytest

from splitmerge.bench.report import (
    Cell,
    Column,
    Dot,
    Dots,
    Picture,
    Plot,
    Report,
    Section,
    Series,
    Table,
    Text,
    html,
    write,
)

HOSTILE = "</script></style></title><img src=x onerror=\"document.title='hit'\">'&amp;<!--"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><rect width="20" height="10" fill="red"/></svg>'
EMPTY = Report("Nothing", (), (), {})


def report(*blocks, **changes):
    return replace(Report("A report", ("All is well.",), (Section("Only section", blocks),), {"seed": 1}), **changes)


def data_of(page):
    """What the plots of the page are drawn from."""
    return [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]


def curve(x, y, **options):
    page = html(report(Plot("p", "x", "y", (Series("s", np.array(x), np.array(y)),), **options)))
    return data_of(page)[0]["series"][0]


def sample(word="word"):
    """Something of everything, with `word` wherever a text can stand."""
    steps = np.arange(1.0, 101.0)
    table = Table(
        word,
        (Column(word, why=word, numeric=False), Column("seconds", why=word), *(Column(f"wide {i}") for i in range(12))),
        tuple(
            (
                Cell(f"{name} {word}", name, below=word, why=word),
                Cell(f"{key} s", key, mark),
                *(Cell("1234567.8", 1.0) for _ in range(12)),
            )
            for name, key, mark in (
                ("b", 2.0, "second"),
                ("a", 10.0, "bad"),
                ("d", None, "missing"),
                ("c", 1.0, "best"),
            )
        ),
        word,
    )
    fast, slow = (Series(f"{name} {word}", steps, 10 ** (-steps / rate)) for name, rate in (("fast", 10), ("slow", 30)))
    plot = Plot(word, word, word, (fast, replace(slow, dashed=True, group=word)), line=1e-8)
    long = Plot("long", "x", "y", (Series("many", np.arange(1e4), np.sin(np.arange(1e4))),), log_y=False)
    rows = ((word, (Dot(20.0, word, 5.0), Dot(300.0, word, 400.0, 3, True))), ("none", ()))
    blocks = (Text((word,)), table, plot, long, Dots(word, word, rows, (word, word)), Picture(word, SVG, word))
    return Report(word, (word,), (Section(word, blocks),), {word: {word: word}, "list": [word, 2], "none": None})


# ---------------------------------------------------------------- what html() writes


def test_is_one_file_that_refers_to_nothing_outside():
    page = html(sample())
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"""(?:src|href)=["'](?!data:|#|\./word\.csv)""", page)
    assert "url(" not in page
    assert "@import" not in page


def test_no_text_can_leave_its_place():
    page = html(sample(HOSTILE))
    assert "<img src=x" not in page
    assert page.count("</script>") == html(sample()).count("</script>")
    assert data_of(page)[0]["labels"] == [HOSTILE, HOSTILE]


def test_a_file_name_is_no_address():
    page = html(report(Table("t", (), (), "javascript:alert(1)//../x")))
    assert 'href="./javascript%3Aalert%281%29%2F%2F..%2Fx.csv"' in page


def test_what_is_no_number_becomes_null():
    assert curve([1, 2, 3, np.nan], [np.nan, np.inf, 0.5, 1], log_y=False) == {
        "name": "s",
        "x": [1, 2, 3, None],
        "y": [None, None, 0.5, 1],
        "style": "",
        "colour": 0,
    }


@pytest.mark.parametrize("y", [[0.0, 0.0], [-1.0, -2.0]])
def test_what_has_no_logarithm_is_left_out(y):
    assert curve([1, 2], y)["y"] == [None, None]
    assert curve([1, 2], y, log_y=False)["y"] == y
    assert curve(y, [1, 2], log_x=True)["x"] == [None, None]


@pytest.mark.parametrize("length", [0, 1])
def test_short_series(length):
    assert curve(range(length), np.ones(length))["y"] == [1.0] * length


def test_ranges_and_levels_that_no_axis_has_are_left_out():
    page = html(report(Plot("p", "x", "y", (), x_range=(0, 5), y_range=(0, 1), line=-1.0)))
    assert (data_of(page)[0]["ranges"], data_of(page)[0]["line"]) == ([[0, 5], None], None)


def test_curves_of_one_group_share_a_colour():
    one = Series("s", np.ones(1), np.ones(1))
    plot = Plot("p", "x", "y", (one, replace(one, group="g"), one, replace(one, group="g")))
    assert [series["colour"] for series in data_of(html(report(plot)))[0]["series"]] == [0, 1, 2, 1]


def test_a_colour_and_a_style_can_be_given():
    one = Series("s", np.ones(1), np.ones(1), dotted=True, colour=9)
    plot = Plot("p", "x", "y", (one, replace(one, dotted=False, dashed=True), replace(one, colour=None)))
    drawn = data_of(html(report(plot)))[0]["series"]
    assert [(series["colour"], series["style"]) for series in drawn] == [(9, "dotted"), (9, "dashed"), (2, "dotted")]


def test_every_colour_is_defined():
    page = html(EMPTY)
    assert all(f"--c{number}:" in page for number in range(11))


def test_facts_stand_before_the_contents():
    page = html(replace(EMPTY, facts={"Machine": "a < b"}))
    assert '<dl class="facts"><dt>Machine</dt><dd>a &lt; b</dd></dl>' in page


@pytest.mark.parametrize(
    ("values", "ends"),
    [((20.0, 300.0), ("10", "1,000")), ((1.0,), ("1", "10")), ((1e-5, 1e7), ("10<sup>−5</sup>", "10<sup>7</sup>"))],
)
def test_points_lie_between_powers_of_ten(values, ends):
    page = html(report(Dots("c", "x", (("r", tuple(Dot(value, "t") for value in values)),), ("f", "h"))))
    labels = re.findall(r'<span style="left:(.*?)%">(.*?)</span>', page)
    assert (labels[0], labels[-1]) == (("0.00", ends[0]), ("100.00", ends[1]))
    places = [float(place) for place in re.findall(r'class="dot" style="left:(.*?)%', page)]
    assert all(0 <= place <= 100 for place in places)


def test_a_whisker_does_not_reach_zero():
    page = html(report(Dots("c", "x", (("r", (Dot(10.0, "t", 50.0),)),), ("f", "h"))))
    assert re.search(r'class="whisker" style="left:0.00%;width:88.91%', page)


def test_an_empty_report_is_a_page():
    page = html(EMPTY)
    assert "<h1>Nothing</h1>" in page
    assert "<nav" not in page
    assert 'id="provenance"' not in page


def test_empty_tables_say_so():
    page = html(report(Table("t", (Column("a"), Column("b")), ()), Table("u", (), ())))
    assert page.count("no rows") == 2
    assert 'colspan="2"' in page


def test_keys_that_have_no_place_among_the_others_are_none():
    cells = tuple(Cell("x", key) for key in (np.nan, np.inf, None, 2, np.float64(0.5), "w"))
    page = html(report(Table("t", (Column("c"),) * 6, (cells,))))
    assert re.findall(r"data-(?:number|word)=\"(.*?)\"", page) == ["2.0", "0.5", "w"]


def test_provenance_is_flat():
    page = html(replace(EMPTY, provenance={"machine": {"blas": {"threads": [1, 2]}}, "seed": None}))
    assert "<dt>machine / blas / threads</dt><dd>1, 2</dd><dt>seed</dt><dd>—</dd>" in page


def test_written_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    write(report(Text(("a lone surrogate \udcff",))), path)
    before = path.read_text("utf-8")
    assert "a lone surrogate ?" in before
    monkeypatch.setattr("os.replace", Mock(side_effect=OSError("no")))
    with pytest.raises(OSError, match="no"):
        write(EMPTY, path)
    assert path.read_text("utf-8") == before
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


# ---------------------------------------------------------------- what a browser makes of it


def names(page):
    return [text[0] for text in page.locator("tbody th").all_inner_texts()]


def read(page, plot=0):
    return page.locator("figure.plot").nth(plot).locator(".at").all_inner_texts()


def ticks(page):
    return page.locator(".draw").first.locator("svg text").all_text_contents()


def test_tables_sort_both_ways_with_nothing_last(open_page):
    page = open_page(sample())
    head = page.locator("thead th").nth(1)
    assert names(page) == ["b", "a", "d", "c"]
    head.get_by_role("button").click()
    assert (names(page), head.get_attribute("aria-sort")) == (["c", "b", "a", "d"], "ascending")
    head.get_by_role("button").click()
    assert (names(page), head.get_attribute("aria-sort")) == (["a", "b", "c", "d"], "descending")
    page.locator("thead th").nth(0).get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert names(page) == ["a", "b", "c", "d"]
    page.keyboard.press("Enter")
    assert names(page) == ["d", "c", "b", "a"]
    assert head.get_attribute("aria-sort") is None
    # equal keys leave the order as it is
    page.locator("thead th").nth(2).get_by_role("button").click()
    assert names(page) == ["d", "c", "b", "a"]


@pytest.mark.slow
def test_cards_sort_too(open_page):
    page = open_page(sample(), width=375)
    page.locator("thead th").nth(1).get_by_role("button").click()
    assert names(page) == ["c", "b", "a", "d"]


def test_explanations_come_by_pointer_and_by_keyboard(open_page):
    page = open_page(sample("reason"))
    tip = page.locator("#tip")
    assert tip.is_hidden()
    page.locator("tbody th").first.hover()
    assert tip.inner_text() == "reason"
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    explained = page.locator("tbody .why")
    explained.first.focus()
    assert tip.is_visible()
    page.keyboard.press("ArrowDown")
    assert explained.nth(1).evaluate("each => each === document.activeElement")
    assert [each.get_attribute("tabindex") for each in explained.all()] == ["-1", "0", "-1", "-1"]


def test_plots_are_read_by_pointer_and_by_keys(open_page):
    page = open_page(sample())
    drawing = page.locator(".draw").first
    assert read(page) == ["", ""]
    drawing.hover(position={"x": 200, "y": 100})
    page.wait_for_function("document.querySelector('.at').textContent")
    first = read(page)
    assert all(re.fullmatch(r"\(\d+, .+\)", each) for each in first)
    drawing.hover(position={"x": 500, "y": 100})
    page.wait_for_function("before => document.querySelector('.at').textContent !== before", arg=first[0])
    page.mouse.move(0, 0)
    assert read(page) == ["", ""]
    drawing.focus()
    page.keyboard.press("ArrowRight")
    assert read(page) == ["(1, 0.7943)", "(1, 0.9261)"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert read(page) == ["(2, 0.631)", "(2, 0.8577)"]
    page.keyboard.press("End")
    assert read(page)[0] == "(100, 10⁻¹⁰)"
    assert "slow word: (100, 4.642·10⁻⁴)" in page.locator("[role=status]").first.text_content()


@pytest.mark.slow
def test_a_finger_leaves_what_it_read(open_page):
    page = open_page(sample(), width=375, has_touch=True)
    drawing = page.locator(".draw").first
    drawing.tap(position={"x": 150, "y": 100})
    before = read(page)
    assert all(before)
    drawing.tap(position={"x": 250, "y": 100})
    assert all(read(page))
    assert read(page) != before
    assert page.get_by_role("button", name="Show all").first.is_disabled()


def test_the_legend_hides_and_shows_curves(open_page):
    page = open_page(sample())
    curves = page.locator(".draw").first.locator("path.curve")
    button = page.get_by_role("button", name="fast word")
    assert (curves.count(), button.get_attribute("aria-pressed")) == (2, "true")
    button.press("Space")
    assert (curves.count(), button.get_attribute("aria-pressed")) == (1, "false")
    page.locator(".draw").first.focus()
    page.keyboard.press("Home")
    assert read(page) == ["", "(1, 0.9261)"]
    button.click()
    assert curves.count() == 2


def test_plots_zoom_and_come_back(open_page):
    page = open_page(sample())
    reset = page.get_by_role("button", name="Show all").first
    whole = ticks(page)
    assert "10⁻⁸" in whole
    assert reset.is_disabled()

    def drag():
        box = page.locator(".draw").first.bounding_box()
        page.mouse.move(box["x"] + 200, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 350, box["y"] + 200, steps=3)
        page.mouse.up()

    page.locator(".draw").first.scroll_into_view_if_needed()
    drag()
    assert ticks(page) != whole
    reset.click()
    assert ticks(page) == whole
    drag()
    page.locator(".draw").first.dblclick()
    assert ticks(page) == whole
    page.keyboard.press("+")
    assert ticks(page) != whole
    page.keyboard.press("0")
    assert ticks(page) == whole


@pytest.mark.slow
def test_a_long_series_is_thinned(open_page):
    page = open_page(sample())
    path = page.locator(".draw").nth(1).locator("path.curve").get_attribute("d")
    width = page.locator(".draw").nth(1).bounding_box()["width"]
    assert width < len(re.findall("[ML]", path)) < 4 * width


@pytest.mark.slow
def test_plots_with_nothing_to_show_do_not_fail(open_page):
    none, one = (Series("s", np.ones(length), np.zeros(length)) for length in (0, 1))
    constant = Series("c", np.ones(3), np.full(3, 5.0))
    plots = [
        Plot("p", "x", "y", series, log_y=log) for series in ((), (none, one), (constant,)) for log in (True, False)
    ]
    page = open_page(report(*plots))
    for drawing in page.locator(".draw").all():
        drawing.focus()
        for key in ("ArrowRight", "End", "+", "+", "-", "0"):
            page.keyboard.press(key)
    assert page.locator(".draw > svg[viewBox]").count() == len(plots)


def test_fits_a_phone(open_page):
    page = open_page(sample("W" * 300), width=375)
    page.wait_for_selector(".draw > svg[viewBox]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.locator(".sheet.cards").count() == 1
    assert cut_off(page) == []


@pytest.mark.slow
def test_a_wider_window_has_the_table_again(open_page):
    row = tuple(Cell("1234567.8", 1.0) for _ in range(8))
    page = open_page(report(Table("t", tuple(Column(f"column {i}") for i in range(8)), (row,))), width=375)
    page.wait_for_selector(".sheet.cards")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_selector(".sheet:not(.cards)")
    assert cut_off(page) == []
    page.set_viewport_size({"width": 500, "height": 800})
    page.wait_for_selector(".sheet.cards")
    assert cut_off(page) == []


def cut_off(page):
    """The cells that stick out of the window, and the frames that scroll."""
    return page.evaluate(
        """() => [
          ...[...document.querySelectorAll("tbody :is(th, td)")]
            .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.textContent),
          ...[...document.querySelectorAll("main *")].map((each) => [getComputedStyle(each).overflowY, each.className])
            .filter(([how]) => ["auto", "scroll"].includes(how)),
        ]"""
    )


@pytest.mark.slow
def test_given_ticks_are_named_where_there_is_room(open_page):
    kappas = (3.0, 5.0, 8.0, 10.0, 13.0, 30.0, 40.0, 50.0, 80.0, 100.0)
    curve = Series("s", np.array(kappas), np.ones(10))
    plot = Plot("p", "κ_B", "y", (curve,), log_x=True, log_y=False, x_ticks=kappas)
    page = open_page(report(plot))
    named = page.locator(".draw svg text.column").all_text_contents()
    assert named == ["3", "5", "8", "10", "13", "30", "40", "50", "80", "100"]
    narrow = open_page(report(plot), width=375)
    named = [text for text in narrow.locator(".draw svg text.column").all_text_contents() if text]
    assert named[0] == "3"
    assert 4 <= len(named) <= 10
    boxes = [each.bounding_box() for each in narrow.locator(".draw svg text.column").all() if each.text_content()]
    assert all(a["x"] + a["width"] <= b["x"] for a, b in pairwise(boxes))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1400])
def test_points_are_inside_and_have_contrast(open_page, width, scheme):
    page = open_page(sample(), width=width, color_scheme=scheme)
    track = page.locator(".dots .track").first.bounding_box()
    for dot in page.locator(".dots .track .dot").all():
        box = dot.bounding_box()
        assert track["x"] - 7 <= box["x"]
        assert box["x"] + box["width"] <= track["x"] + track["width"] + 7
        assert abs(box["width"] - box["height"]) < 1
    ink = page.locator(".dots .track .dot").first.evaluate("each => getComputedStyle(each).borderColor")
    assert ink != page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = page.locator(".picture img").evaluate("each => getComputedStyle(each).filter") != "none"
    assert dark == (scheme == "dark")


def test_dark_by_the_system_and_by_the_button(open_page):
    paper = "getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page(sample(), color_scheme=scheme) for scheme in ("light", "dark"))
    white, black = light.evaluate(paper), dark.evaluate(paper)
    assert (white, black) == ("rgb(255, 255, 255)", "rgb(20, 23, 28)")
    for page, name, other in ((light, "Dark", black), (dark, "Light", white)):
        page.get_by_role("button", name=name, exact=True).click()
        assert page.evaluate(paper) == other
    dark.reload()
    assert dark.evaluate(paper) == white


def test_complete_without_javascript(open_page):
    page = open_page(sample(), java_script_enabled=False)
    assert names(page) == ["b", "a", "d", "c"]
    assert page.locator("thead th").nth(1).inner_text() == "seconds"
    assert page.locator("tbody td").nth(0).inner_text() == "2.0 s"
    assert page.locator("noscript").first.is_visible()
    assert page.get_by_role("button").count() == 0


def test_hostile_text_is_shown_and_does_nothing(open_page):
    page = open_page(sample(HOSTILE), width=375)
    page.wait_for_selector(".draw > svg[viewBox]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.locator("tbody th").first.hover()
    assert page.locator("#tip").inner_text() == HOSTILE
    for place in ("h1", "h2[id]", "main p", "figcaption span", "thead .why", "tbody small", ".axis", "dd"):
        assert HOSTILE in page.locator(place).first.inner_text(), place
    assert HOSTILE in page.locator(".legend button").first.inner_text()
    assert page.locator("img").get_attribute("alt") == HOSTILE
    assert page.locator("img").count() == 1
    assert page.title() == HOSTILE


def test_everything_is_reached_by_the_tab_key(open_page):
    page = open_page(sample())
    page.keyboard.press("Tab")
    assert page.locator(".skip").evaluate("each => each === document.activeElement")
    page.evaluate(
        "seen = []; addEventListener('focusin', ({ target }) => seen.push(target.className || target.tagName))"
    )
    for _ in range(40):
        page.keyboard.press("Tab")
    assert {"A", "tool", "csv", "sort", "why", "draw", "BUTTON"} <= set(page.evaluate("seen"))

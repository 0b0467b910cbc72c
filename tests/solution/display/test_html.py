"""A solution in a notebook."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.solution.display.html import MAX_ROWS
from splitmerge.verification.verdict import Verdict

GRID = sm.gallery.grid_laplacian((30, 30))[0]


class Balance(HTMLParser):
    """Every element is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(html):
    balance = Balance()
    balance.feed(html)
    assert not balance.open
    assert not balance.seen & {"script", "style", "link", "img", "iframe"}
    assert "http" not in html.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert " id=" not in html, "two solutions on one page would share it"
    return balance.seen


@pytest.mark.parametrize(
    "asked", [{"k": 4, "which": "smallest"}, {"k": 4, "sigma": 1.0}, {"interval": (0, 0.2)}], ids=str
)
def test_all_is_there(asked):
    sol = sm.solve(GRID, **asked, rng=0)
    html = sol._repr_html_()
    assert {"table", "svg", "polyline", "circle"} <= parsed(html)
    assert html.count("<tr>") == sol.eigenvalues.size + 1
    for text in (sol.verdict, sol.verdict.why, sol.reason.advice, "n = 900", f"{sol.residuals[0]:.1e}"):
        assert text in html
    assert html.count("○") == 1


@pytest.mark.parametrize(("values", "shown"), [([1.0, 2.0, 3.0], False), ([1.0, 1.0, 3.0], True)])
def test_clusters_have_a_column_where_there_are_some(values, shown):
    html = sm.solve(np.diag(values), k=3)._repr_html_()
    assert ("cluster</th>" in html) == shown
    assert html.count("<td") == 3 * (5 if shown else 4)


def test_rows_beyond_the_first_are_counted():
    html = sm.solve(GRID, k=50, rng=0)._repr_html_()
    assert html.count("<tr>") == 1 + MAX_ROWS + 1
    assert "and 30 more" in html
    assert len(html) < 40_000


def test_many_steps_take_no_more_space():
    sol = sm.solve(*sm.gallery.synthetic_pair(300, kappa_B=100, rng=0), method=sm.GradientDescent(), rng=0)
    assert sol.steps > 200
    assert len(sol._repr_html_()) < 10_000


def test_lapack_has_no_picture():
    html = sm.solve(np.diag([3.0, 2.0, 1.0]))._repr_html_()
    assert "svg" not in parsed(html)
    assert "no steps" in html


def test_not_converged():
    with pytest.raises(sm.NotConverged) as caught:
        sm.solve(GRID, max_steps=1, method=sm.Power(), rng=0)
    html = caught.value.solution._repr_html_()
    parsed(html)
    assert "Not converged" in html


def test_nothing_found():
    parsed(sm.solve(GRID, interval=(-2, -1))._repr_html_())


def test_text_is_escaped():
    """A file may say anything about why."""
    import dataclasses

    sol = dataclasses.replace(sm.solve(np.diag([2.0, 1.0])), verdict=Verdict("<b>probed", "<script>alert(1)</script>"))
    html = sol._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1000])
def test_in_a_browser(new_page, scheme, width):
    """All of it is visible on a page of either colour, and nothing is wider than the page."""
    sol = sm.solve(GRID, k=4, sigma=1.0, rng=0)
    page = new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.set_viewport_size({"width": width, "height": 700})
    colours = {"light": ("#fff", "#111"), "dark": ("#111", "#ddd")}[scheme]
    body = f'<body style="background:{colours[0]};color:{colours[1]}">{sol._repr_html_()}'
    page.set_content(f"<!doctype html><meta charset=utf-8>{body}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("svg").bounding_box()
    assert box["width"] > 300
    assert box["height"] > 150
    inks = page.eval_on_selector_all("svg text, td, th", "all => all.map(each => getComputedStyle(each).color)")
    expected = tuple(17 * int(digit, 16) for digit in colours[1][1:])
    assert {tuple(map(int, re.findall(r"\d+", ink))) for ink in inks} == {expected}
    assert page.locator("svg polyline").count() >= 4
    assert not complaints
    page.close()

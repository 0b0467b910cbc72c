"""The claims of the paper, judged by numbers that are known: its own, and others."""

import math
import re
from dataclasses import replace
from importlib.resources import files

import pytest

from published import as_published, clustered, judged
from splitmerge.bench.provenance import provenance
from splitmerge.bench.report import Plot
from splitmerge.bench.reproduce import claims, figures, lapla, sections, table1
from splitmerge.bench.reproduce.paper import TABLE1
from splitmerge.bench.reproduce.results import Results
from splitmerge.bench.summary import statistics


def test_the_paper_bears_out_what_it_says_of_its_table_but_for_two_things():
    found = {text: judgement.word for text, judgement in judged(Results(as_published())).items()}
    less = {text: word for text, word in found.items() if word in ("partly", "not reproduced")}
    assert less == {
        # bold in 20 of 30
        "Split-Merge is the fastest method in nearly all cells.": "partly",
        # not at n = 256, κ_B = 8
        "Gradient descent beats the power method when κ_B < 10.": "partly",
    }
    assert sum(word == "reproduced" for word in found.values()) == 9


def test_the_paper_bears_out_what_it_says_of_the_clustered_pairs():
    pairs, factors, curves = clustered((17, 11))
    found = judged(Results(pairs=pairs, factors=factors, curves=curves))
    words = [judgement.word for judgement in found.values() if judgement.word != "not measured"]
    assert words == ["reproduced"] * 4


@pytest.mark.parametrize(
    ("gains", "word"), [((0.3, 0.3), "not reproduced"), ((0.5, 3.0), "partly"), ((12, 8), "reproduced")]
)
def test_the_gain_from_pcg_is_judged_by_its_size(gains, word):
    pairs, factors, curves = clustered(gains)
    found = judged(Results(pairs=pairs, factors=factors, curves=curves))
    judgement = found["PCG makes Split-Merge 17 and 11 times as fast as Cholesky."]
    assert judgement.word == word
    assert f"{gains[0]:.2f} times as fast" in judgement.figures
    assert "(paper: 17)" in judgement.figures


def test_nothing_is_judged_that_was_not_measured():
    assert {judgement.word for judgement in judged(Results()).values()} == {"not measured"}
    small = Results({key: stats for key, stats in as_published().items() if key[0] == 256})
    unknown = [text for text, judgement in judged(small).items() if judgement.word == "not measured"]
    assert sum("1024" in text for text in unknown) == 2
    assert not any("256" in text for text in unknown)


def test_the_speed_up_of_the_paper_is_that_of_its_times():
    for row in TABLE1.values():
        # three digits of each time are printed
        assert row.speedup / 100 == pytest.approx(row.power / row.split_merge, rel=0.01)
    assert (min(row.speedup for row in TABLE1.values()), max(row.speedup for row in TABLE1.values())) == (
        144.68,
        404.90,
    )


def test_failures_do_not_count_into_the_mean():
    trial = {"method": "m", "steps": 5, "setup": 1.0, "A_products": 6, "B_products": 1, "B_solves": 5, "P_solves": 0}
    good = [{**trial, "success": True, "seconds": seconds} for seconds in (1.0, 3.0)]
    found = statistics([*good, {**trial, "success": False, "seconds": 100.0}])["m"]
    assert (found.seconds, found.deviation, found.successes, found.count, found.whole) == (2.0, 1.0, 2, 3, 3.0)
    assert found.share == pytest.approx(2 / 3)
    none = statistics([{**trial, "success": False, "seconds": 1.0}])["m"]
    assert (none.seconds, none.share) == (math.inf, 0.0)


def test_a_method_that_failed_everywhere_is_shown_as_such():
    cells = as_published()
    cells[256, 3]["Lanczos"] = statistics([{"method": "m", "success": False}])["m"]
    (table,) = (block for block in table1.blocks(cells) if getattr(block, "name", "") == "table1")
    row = table.rows[0]
    place = [column.name for column in table.columns].index("Lanczos")
    assert (row[place].text, row[place].key, row[place].mark) == ("✗ 0 %", None, "bad")
    assert [cell.mark for cell in row].count("best") == [cell.mark for cell in row].count("second") == 1
    judged(Results(cells))


class TestFewStarts:
    """What two starts, or ten, cannot support."""

    def judged(self, count):
        cells = {
            key: {n: replace(s, count=count, successes=count) for n, s in own.items()}
            for key, own in as_published().items()
        }
        pairs, factors, curves = clustered((17, 11))
        pairs = {name: {side: replace(s, count=count) for side, s in own.items()} for name, own in pairs.items()}
        return Results(cells, pairs, curves, factors)

    @pytest.mark.parametrize(("count", "unsupported"), [(2, 14), (9, 14), (10, 2), (99, 2), (100, 0)])
    def test_are_not_judged(self, count, unsupported):
        found = judged(self.judged(count))
        lacking = [text for text, judgement in found.items() if judgement.word == "not enough starts"]
        assert len(lacking) == unsupported
        assert all(f"here are {count}" in found[text].reason and found[text].figures for text in lacking)
        # the cost of a step is the same from every start
        assert found["A step of Split-Merge takes two products with A and two solves."].word != "not enough starts"

    def test_a_quick_run_says_so_beside_every_verdict(self):
        quick, other, whole = (claims.table(self.judged(count)) for count in (2, 3, 100))
        for table, beside in ((quick, "quick run, 2 starts"), (other, "3 starts"), (whole, "100 starts")):
            said = {row[2].below for row in table.rows if row[2].text != "not measured"}
            assert said == {beside, "quick run, but starts play no part" if table is quick else ""}

    @pytest.mark.parametrize(("target", "measured"), [("table1", True), ("table1", False), ("claims", True)])
    def test_a_page_that_counts_claims_lists_them(self, target, measured, tmp_path):
        results = Results(self.judged(2).cells if measured else {})
        found = sections.sections(target, results, (), 0, tmp_path, {})
        listed = [block for section in found if section.title == "Claims" for block in section.blocks]
        counted = re.search(r"Of (\d+) claims", " ".join(sections.summary(results)))
        assert bool(listed) == bool(counted) == measured
        if listed:
            words = [row[2].text for row in listed[0].rows]
            assert len(words) - words.count("not measured") == int(counted[1])
            assert ("not measured" in words) == (target == "claims")

    def test_the_head_says_so(self):
        origin = provenance("splitmerge reproduce all", 0) | {"processes": 2, "threads": 1}
        head = sections.facts(self.judged(2), 2, origin)
        assert head["Starts"] == "2 per problem, a quick run; the paper has 100"
        assert "Split-Merge Revisited" in head["Paper"]
        assert head["Paper"].endswith("arXiv:2507.02389")
        assert head["Machine"].startswith(origin["processor"])
        assert head["Date"] == origin["date"]
        assert sections.facts(self.judged(100), 100, origin)["Starts"] == "100 per problem; the paper has 100"
        assert "quick run" in sections.summary(self.judged(2))[-1]


class TestBlocks:
    """Products first, which no machine changes; then times; the set-up apart from both."""

    def test_order(self):
        names = [getattr(block, "name", "") or type(block).__name__ for block in table1.blocks(as_published())]
        assert names == ["Text", "table1-products", "Plot", "table1", "Plot", "table1-ratios", "table1-setup"]

    def test_set_up_is_apart(self):
        tables = {block.name: block for block in table1.blocks(as_published()) if hasattr(block, "rows")}
        assert all("set-up" not in column.name for table in tables.values() for column in table.columns)
        assert "Set-up in milliseconds" in tables["table1-setup"].caption

    def test_milliseconds(self):
        (table,) = (block for block in table1.blocks(as_published()) if getattr(block, "name", "") == "table1")
        place = [column.name for column in table.columns].index("Power")
        assert (table.rows[0][place].text, table.rows[0][place].key) == ("19.7", pytest.approx(19.7))
        assert not any("e-0" in cell.text + cell.below for row in table.rows for cell in row)

    def test_one_colour_per_n_and_one_style_per_quantity(self):
        plots = [block for block in table1.blocks(as_published()) if isinstance(block, Plot)]
        styles, colours = {}, {}
        for series in (series for plot in plots for series in plot.series):
            n, quantity = series.name.split(", ")
            colours.setdefault(n, set()).add(series.colour)
            styles.setdefault(quantity, set()).add((series.dashed, series.dotted))
        assert [len(found) for found in colours.values()] == [1, 1, 1]
        assert len(set.union(*colours.values())) == 3
        assert styles == {"products": {(False, False)}, "time": {(True, False)}, "paper": {(False, True)}}
        assert all(plot.x_ticks == (3, 5, 8, 10, 13, 30, 40, 50, 80, 100) for plot in plots)

    def test_points_lead_with_products(self):
        pairs, _, _ = clustered((17, 11))
        first, second = lapla.points("three", pairs["three"])
        assert (first.label, second.label) == ("products with A", "milliseconds")
        assert [name for name, _ in first.rows] == list(lapla.SIDES)
        assert [dot.hollow for dot in dict(second.rows)["Power"]] == [False, True]

    def test_one_colour_per_method_on_the_page_and_in_the_figures(self):
        style = files("splitmerge.bench.report").joinpath("report.css").read_text("utf-8")
        for number, colour in enumerate(figures.PALETTE):
            assert f"--c{number}: light-dark({colour}," in style
        assert len(set(lapla.COLOURS.values())) == len(lapla.SIDES) == len(lapla.COLOURS)
        assert not set(lapla.COLOURS.values()) & set(table1.SIZE_COLOURS)

"""The claims of the paper, judged by numbers that are known: its own, and others."""

import math

import pytest

from published import as_published, clustered, judged
from splitmerge.bench.reproduce import table1
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
    table = table1.blocks(cells)[1]
    row = table.rows[0]
    place = [column.name for column in table.columns].index("Lanczos")
    assert (row[place].text, row[place].key, row[place].mark) == ("✗ 0 %", None, "bad")
    assert [cell.mark for cell in row].count("best") == [cell.mark for cell in row].count("second") == 1
    judged(Results(cells))

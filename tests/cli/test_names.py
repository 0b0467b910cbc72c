"""Names at the command line, provenance, and numbers in JSON."""

import json
import os

import numpy as np
import pytest

import splitmerge as sm
from splitmerge.bench import rivals
from splitmerge.bench.provenance import provenance
from splitmerge.cli.arguments import Mistake
from splitmerge.cli.names import PRECONDITIONERS, build, methods
from splitmerge.cli.output import plain


class TestNames:
    def test_of_the_library(self):
        made = {name: make() for name, make in methods().items()}
        assert made["default"] is None
        expected = (
            ["accelerated", "locally-optimal", "split-merge", "power", "mirror-descent", "gradient-descent", "lanczos"],
            (
                sm.Accelerated,
                sm.LocallyOptimal,
                sm.SplitMerge,
                sm.Power,
                sm.MirrorDescent,
                sm.GradientDescent,
                sm.Lanczos,
            ),
        )
        for name, cls in zip(*expected, strict=True):
            assert type(made[name]) is cls

    def test_rivals_are_picked_up(self, monkeypatch):
        class NestedPower(sm.Power):
            pass

        monkeypatch.setattr(rivals, "NestedPower", NestedPower, raising=False)
        monkeypatch.setattr(rivals, "helper", len, raising=False)
        monkeypatch.setattr(rivals, "__all__", ["NestedPower", "helper"], raising=False)
        assert isinstance(build("nested-power", None, None, None)[0], NestedPower)
        assert "helper" not in methods()

    def test_spelling(self):
        for name in ("split-merge", "splitmerge", "SplitMerge", "split_merge"):
            assert build(name, None, None, None)[0] == sm.SplitMerge()

    def test_unknown(self):
        with pytest.raises(Mistake, match=r"'split-mrge' \(did you mean split-merge\?\); give one of default, acc"):
            build("split-mrge", None, None, None)
        with pytest.raises(Mistake, match="unknown preconditioner 'ilu'; give one of diagonal, incomplete-"):
            build(None, None, None, "ilu")

    def test_where_a_preconditioner_goes(self):
        assert build(None, None, None, "multigrid") == (None, sm.MultiGrid())
        assert build("accelerated", None, None, "diagonal") == (sm.Accelerated(), sm.Diagonal())
        assert build("locally-optimal", None, None, "diagonal") == (sm.LocallyOptimal(sm.Diagonal()), None)
        assert build("mirror-descent", None, None, "diagonal") == (sm.MirrorDescent(sm.Diagonal()), None)
        inner = sm.ConjugateGradient(12, sm.IncompleteCholesky())
        assert build("split-merge", "cg", 12, "incomplete-cholesky") == (sm.SplitMerge(inner=inner), None)
        assert build("power", "cg", None, None) == (sm.Power(inner=sm.ConjugateGradient()), None)
        assert build("power", "cholesky", None, None) == (sm.Power(inner=sm.Cholesky()), None)
        assert build(None, "cg", None, None)[0].inner.tol == 1e-13

    @pytest.mark.parametrize("preconditioner", [None, *PRECONDITIONERS])
    @pytest.mark.parametrize("steps", [None, 7])
    @pytest.mark.parametrize("name", [name for name, make in methods().items() if getattr(make(), "solves", True)])
    def test_every_option_reaches_the_solver_for_B(self, name, steps, preconditioner):
        method, left = build(name, "cg", steps, preconditioner)
        assert left is None
        # some methods use a preconditioner themselves
        user = method if hasattr(method, "preconditioner") else method.inner
        assert preconditioner is None or user.preconditioner == PRECONDITIONERS[preconditioner]()
        own = sm.ConjugateGradient(None) if isinstance(method, sm.Accelerated) else sm.ConjugateGradient()
        assert method.inner.max_steps == (own.max_steps if steps is None else steps)

    @pytest.mark.parametrize(
        ("asked", "message"),
        [
            (("gradient-descent", None, None, "diagonal"), "does not use a preconditioner"),
            (("split-merge", "cholesky", None, "diagonal"), "which is exact"),
            (("split-merge", None, 5, None), "is for --inner cg"),
            (("locally-optimal", "cg", None, None), "locally-optimal never solves with B"),
        ],
    )
    def test_what_does_not_go_together(self, asked, message):
        with pytest.raises(Mistake, match=message):
            build(*asked)


class TestProvenance:
    def test_says_where_numbers_come_from(self):
        found = provenance("splitmerge solve K.mtx", 7)
        assert found["splitmerge"] == sm.__version__
        assert found["numpy"] == np.__version__
        assert found["command"] == "splitmerge solve K.mtx"
        assert found["seed"] == 7
        assert found["threads"] >= 1
        assert found["date"].endswith("UTC")
        assert all(found[name] for name in ("python", "scipy", "blas", "platform", "processor", "cores"))

    def test_tells_nothing_of_who_ran_it(self, monkeypatch):
        monkeypatch.setenv("HOME", "/some/place")
        found = provenance("splitmerge solve /some/place/K.mtx '/home/ann/a b.mtx' -o=/Users/bob/x.npz /data/K.mtx")
        assert found["command"] == "splitmerge solve ~/K.mtx '~/a b.mtx' -o=~/x.npz /data/K.mtx"
        assert os.uname().nodename not in str(found).replace(found["platform"], "") or os.name != "posix"


def test_json_terms():
    found = plain(
        {"a": np.array([1.0, np.nan, -np.inf]), 2: np.float32(0.5), "c": sm.Reason.RESIDUAL, "d": (True, None)}
    )
    assert found == {"a": [1.0, None, None], "2": 0.5, "c": "RESIDUAL", "d": [True, None]}
    assert json.loads(json.dumps(plain(np.array([0.1, 1e-300, 2 / 3])))) == [0.1, 1e-300, 2 / 3]

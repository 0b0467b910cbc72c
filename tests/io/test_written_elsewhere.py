"""Files as other programs write them: Fortran's numbers, formats of every kind, headers, versions and byte orders."""

import numpy as np
import pytest
import scipy.sparse as sp

from boeing import boeing
from splitmerge.io import harwell_boeing, matrix_market
from splitmerge.io.entry import check_size
from splitmerge.io.matrices import read_matrix, read_pair
from splitmerge.io.writing import write_matrix
from splitmerge.solution.store.guard import UnreadableFile

RNG = np.random.default_rng(3)
SQUARE = RNG.standard_normal((6, 6))
SYMMETRIC = np.where(np.abs(SQUARE + SQUARE.T) > 1, SQUARE + SQUARE.T, 0) + 3 * np.eye(6)


def dense(M):
    return M.toarray() if sp.issparse(M) else np.asarray(M)


# a number as text, and what it is
NUMBERS = {
    "1.5E+02": 150.0,
    "1.5e+02": 150.0,
    "1.5D+02": 150.0,
    "1.5d+02": 150.0,
    "-1.5D-03": -0.0015,
    "-1.5d-03": -0.0015,
    "-1.5e3": -1500.0,
    "2.5d3": 2500.0,
    "2.5D3": 2500.0,
    ".25E1": 2.5,
    "7": 7.0,
    "-4.": -4.0,
}
# Fortran leaves the letter out where an exponent has three digits; Matrix Market files come from C
FORTRAN = {"2.5+100": 2.5e100, "2.5-100": 2.5e-100, "-2.5+120": -2.5e120, "-2.-120": -2e-120}
each_number = pytest.mark.parametrize(("text", "value"), NUMBERS.items(), ids=NUMBERS)


class TestBoeing:
    def written(self, path, values, *, form="(1E20.12)", kind="RUA", pointers="(9I8)", header=None, n=2):
        """A diagonal matrix whose values are given as texts, one in a line."""
        lines = [
            "title",
            f"{4:14d}{1:14d}{1:14d}{len(values):14d}" if header is None else header,
            f"{kind:14s}{n:14d}{n:14d}{n:14d}{0:14d}",
            f"{pointers:16s}{pointers:16s}{form:20s}",
            "".join(f"{i:8d}" for i in range(1, n + 2)),
            "".join(f"{i:8d}" for i in range(1, n + 1)),
            *values,
        ]
        path.write_text("\n".join(lines) + "\n")
        return path

    @pytest.mark.parametrize(("text", "value"), (NUMBERS | FORTRAN).items(), ids=NUMBERS | FORTRAN)
    @pytest.mark.parametrize("width", [20, 8])
    def test_numbers(self, tmp_path, text, value, width):
        path = self.written(tmp_path / "A.rua", [text.rjust(width), "3.0"], form=f"(1E{width}.3)")
        np.testing.assert_allclose(read_matrix(path).diagonal(), [value, 3.0], rtol=1e-15)

    @pytest.mark.parametrize("text", ["x", "1.5F+02", "1.5+", "--1", "1,5", "1.5E", "1.2.3"])
    def test_what_is_no_number(self, tmp_path, text):
        with pytest.raises(UnreadableFile, match=r"line \d+: the values up to this line are not all numbers"):
            read_matrix(self.written(tmp_path / "A.rua", [text, "3.0"]))

    @pytest.mark.parametrize("count", ["", f"{0:14d}", f"{'0':14s}", " " * 14, f"{1:14d}", f"{2:14d}"], ids=repr)
    def test_right_sides_in_the_header(self, tmp_path, count):
        """Their description is a line of its own, but only if there are some."""
        path = self.written(tmp_path / "A.rua", ["2.0", "3.0"], header=f"{4:14d}{1:14d}{1:14d}{2:14d}{count}")
        if count.strip() not in ("", "0"):
            lines = path.read_text().splitlines()
            path.write_text("\n".join([*lines[:4], f"{'F':14s}{1:14d}{0:14d}", *lines[4:], "9.0", "9.0"]) + "\n")
        np.testing.assert_array_equal(read_matrix(path).toarray(), np.diag([2.0, 3.0]))

    @pytest.mark.parametrize("form", ["(2F12.7)", "(2E12.4)", "(1P2E12.4)", "(1P,2E12.4)", "(2D12.4)", "(2G12.4)"])
    def test_fields_that_touch(self, tmp_path, form):
        """With no blanks between them only the width of the format tells where one ends."""
        fields = ["-1234.567890", "-9876.543210"]
        path = self.written(tmp_path / "A.rua", ["".join(fields)], form=form)
        np.testing.assert_allclose(read_matrix(path).diagonal(), [float(field) for field in fields], rtol=1e-15)

    def test_integers_that_touch(self, tmp_path):
        """Of a full matrix of order 12: two digits in two columns each."""
        M = np.arange(1.0, 145.0).reshape(12, 12)
        lines = ["title", f"{0:14d}{1:14d}{18:14d}{144:14d}", f"{'RUA':14s}{12:14d}{12:14d}{144:14d}"]
        lines.append(f"{'(13I3)':16s}{'(8I2)':16s}{'(1F8.1)':20s}")
        lines.append("".join(f"{1 + 12 * i:3d}" for i in range(13)))
        indices = [f"{1 + i % 12:2d}" for i in range(144)]
        lines += ["".join(indices[i : i + 8]) for i in range(0, 144, 8)]
        lines += [f"{value:8.1f}" for value in M.T.ravel()]
        (tmp_path / "A.rua").write_text("\n".join(lines) + "\n")
        np.testing.assert_array_equal(read_matrix(tmp_path / "A.rua").toarray(), M)

    @pytest.mark.parametrize("kind", ["RSA", "rsa", "RUA", "rua", "CHA", "cha", "CSA", "csa", "CUA", "ISA", "IUA"])
    def test_every_type_of_matrix(self, tmp_path, kind):
        """The lower triangle is mirrored as it is, or conjugated."""
        letters = kind.upper()
        M = np.rint(SYMMETRIC * 3)
        if letters[0] == "C":
            other = np.rint(SQUARE * 5)
            M = M + 1j * (other - other.T if letters[1] == "H" else other + other.T)
        if letters[1] == "U":
            M = M + np.triu(M, 2)
        path = boeing(tmp_path, M, letters)
        path.write_text(path.read_text().replace(letters, kind, 1))
        np.testing.assert_array_equal(read_matrix(path).toarray(), M)

    @pytest.mark.parametrize("portion", [1, 4, 7])
    def test_numbers_come_in_portions(self, tmp_path, monkeypatch, portion):
        monkeypatch.setattr(harwell_boeing, "PORTION", portion)
        np.testing.assert_allclose(read_matrix(boeing(tmp_path, SYMMETRIC, "RSA")).toarray(), SYMMETRIC, rtol=1e-15)


class TestMatrixMarket:
    @each_number
    @pytest.mark.parametrize("layout", ["coordinate", "array"])
    def test_numbers(self, tmp_path, text, value, layout):
        """None is read up to a letter only."""
        path = tmp_path / "A.mtx"
        body = f"2 2 2\n1 1 {text}\n2 2 3.0\n" if layout == "coordinate" else f"2 2\n{text}\n0\n0\n3.0\n"
        path.write_text(f"%%MatrixMarket matrix {layout} real general\n{body}")
        np.testing.assert_allclose(dense(read_matrix(path)), np.diag([value, 3.0]), rtol=1e-15)

    @each_number
    def test_parts_of_complex_numbers(self, tmp_path, text, value):
        path = tmp_path / "A.mtx"
        path.write_text(
            f"%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 1 0\n2 1 3.0 {text}\n2 2 {text} 0\n"
        )
        expected = [[1, 3 - 1j * value], [3 + 1j * value, value]]
        np.testing.assert_allclose(dense(read_matrix(path)), expected, rtol=1e-15)

    def test_the_case_of_the_banner(self, tmp_path):
        path = tmp_path / "A.mtx"
        path.write_text("%%MatrixMarket MATRIX Coordinate Real SYMMETRIC\n2 2 2\n1 1 4\n2 1 5\n")
        np.testing.assert_array_equal(read_matrix(path).toarray(), [[4, 5], [5, 0]])

    @pytest.mark.parametrize(
        ("field", "symmetry", "body", "expected"),
        [
            ("real", "general", "1\n2\n3\n4\n", [[1, 3], [2, 4]]),
            ("integer", "general", "1\n2\n3\n4\n", [[1, 3], [2, 4]]),
            ("real", "symmetric", "1\n2\n4\n", [[1, 2], [2, 4]]),
            ("complex", "symmetric", "1 5\n2 6\n4 7\n", [[1 + 5j, 2 + 6j], [2 + 6j, 4 + 7j]]),
            ("complex", "hermitian", "1 0\n2 6\n4 0\n", [[1, 2 - 6j], [2 + 6j, 4]]),
        ],
    )
    def test_dense_storage_goes_by_columns(self, tmp_path, field, symmetry, body, expected):
        (tmp_path / "A.mtx").write_text(f"%%MatrixMarket matrix array {field} {symmetry}\n2 2\n{body}")
        np.testing.assert_array_equal(dense(read_matrix(tmp_path / "A.mtx")), expected)

    @pytest.mark.parametrize("chunk", [64, 65, 67, 71, 97])
    @pytest.mark.parametrize("letter", "ED")
    def test_numbers_across_the_pieces_of_a_text(self, tmp_path, monkeypatch, chunk, letter):
        """A number that is cut in two is still one, and the line of a mistake is that of the file."""
        monkeypatch.setattr(matrix_market, "CHUNK_BYTES", chunk)
        values = RNG.standard_normal(40)
        lines = ["%%MatrixMarket matrix coordinate real general", "% by hand", "40 40 40"]
        lines += [f"{i} {i} {value:.17E}".replace("E", letter) for i, value in enumerate(values, 1)]
        path = tmp_path / "A.mtx"
        path.write_text("\n".join(lines))
        np.testing.assert_array_equal(read_matrix(path).diagonal(), values)
        for place in (3, 20, 42):
            broken = [*lines[:place], lines[place].replace(".", ","), *lines[place + 1 :]]
            path.write_text("\n".join(broken))
            with pytest.raises(UnreadableFile, match=f"line {place + 1}: only numbers are expected here, and there is"):
                read_matrix(path)


@pytest.mark.parametrize(("rows", "entries"), [(10_000_000, 0), (10_000_010, 1), (10_000_050, 5)])
def test_as_many_empty_rows_as_are_plausible(rows, entries):
    check_size(rows, rows, entries)
    with pytest.raises(UnreadableFile, match=f"declares {rows + 1} rows and columns, and has {entries} entries"):
        check_size(rows + 1, rows + 1, entries)


class TestNumpy:
    @pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
    @pytest.mark.parametrize("dtype", ["<f8", ">f8", "<c8", ">i4", "<f2", "?"])
    @pytest.mark.parametrize("order", "CF")
    def test_versions_types_and_orders(self, tmp_path, version, dtype, order):
        M = (np.arange(1.0, 10.0).reshape(3, 3) % 4 * (1 if dtype == "?" else 1.5)).astype(dtype, order=order)
        if "c" in dtype:
            M = (M + 1j * M.T).astype(dtype, order=order)
        with (tmp_path / "A.npy").open("wb") as file:
            np.lib.format.write_array(file, M, version=version)
        found = read_matrix(tmp_path / "A.npy")
        np.testing.assert_array_equal(found, M)
        assert found.dtype == M.dtype.newbyteorder("=")
        np.savez(tmp_path / "A.npz", K=M, M=np.eye(3), order=np.arange(3))
        for found, expected in zip(read_pair(tmp_path / "A.npz"), (M, np.eye(3)), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("folder", ["run#2", "a#b#c", "#", "plain"])
@pytest.mark.parametrize("file", ["pair.npz", "pa#ir.npz"])
def test_marks_in_names(tmp_path, folder, file):
    """The last one is before the name of a matrix, unless there is a file of the whole name."""
    path = tmp_path / folder / file
    path.parent.mkdir()
    np.savez(path, K=SYMMETRIC, M=np.eye(6))
    for found in (*read_pair(path), read_matrix(f"{path}#K")):
        assert found.shape == (6, 6)
    np.testing.assert_array_equal(read_matrix(f"{path}#K"), SYMMETRIC)
    np.testing.assert_array_equal(read_pair(f"{path}#M", f"{path}#K")[1], SYMMETRIC)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float16])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_digits_of_single_precision(tmp_path, dtype, kind):
    """What is read again in double precision is the number that was written, not its shortest decimal."""
    if dtype is np.float16 and kind is not np.asarray:
        pytest.skip("SciPy has no such matrices")
    M = (SYMMETRIC / 3).astype(dtype)
    for suffix in (".mtx", ".npz", ".npy", ".petsc"):
        write_matrix(tmp_path / f"A{suffix}", kind(M))
        found = dense(read_matrix(tmp_path / f"A{suffix}"))
        np.testing.assert_array_equal(found.astype(np.complex128), M.astype(np.complex128))

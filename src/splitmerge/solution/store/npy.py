"""Arrays in NumPy's .npy format, read without `eval` or pickle, and never trusting a header about their size."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...typing import Array
from .guard import UnreadableFile, check_memory, quoted

MAGIC = b"\x93NUMPY"
MAX_HEADER_BYTES = 65_536
READ_BYTES = 1 << 20

DESCRIPTION = re.compile(r"""['"]descr['"]\s*:\s*(?:['"]([^'"]{1,40})['"]|(.))""", re.DOTALL)
PLAIN_TYPE = re.compile(r"[<>|=]?(?:[biufc?]\d{0,2}|[SU]\d{1,9})")
ORDER = re.compile(r"""['"]fortran_order['"]\s*:\s*(True|False)\b""")
SHAPE = re.compile(r"""['"]shape['"]\s*:\s*\(([\d\sL,]*)\)""")


class Source(Protocol):
    """A binary file or a member of an archive."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes."""

    def readinto(self, buffer: Any, /) -> int | None:
        """Fill the buffer, and return how many bytes there were."""


@dataclass(frozen=True)
class Layout:
    """What the header of an array says; `dtype` is None for objects and records, which are not read."""

    dtype: np.dtype[Any] | None
    shape: tuple[int, ...]
    fortran: bool
    header_bytes: int
    described: str

    @property
    def size(self) -> int:
        """The bytes of the entries."""
        return math.prod(self.shape) * (0 if self.dtype is None else self.dtype.itemsize)


def read_layout(source: Source) -> Layout:
    """Read the header, which ends where the entries begin."""
    start = _exactly(source, 8)
    if start[:6] != MAGIC:
        raise UnreadableFile("it does not begin like a NumPy array; check that the name has the right suffix")
    if start[6] not in (1, 2, 3):
        raise UnreadableFile(f"its array is of the unknown .npy version {start[6]}.{start[7]}; save it again")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(_exactly(source, width), "little")
    if length > MAX_HEADER_BYTES:
        raise UnreadableFile(
            f"the header of its array has {length} bytes, which is too many for a matrix; save it again"
        )
    return _parsed(_exactly(source, length).decode("latin1"), 8 + width + length)


def read_entries(source: Source, layout: Layout, available: int) -> Array:
    """Read the entries; `available` is how many bytes the file can hold at most, whatever the header says."""
    if layout.dtype is None:
        raise UnreadableFile(f"it is an array of {layout.described}, not of numbers; save a numeric array")
    if layout.size > available:
        raise UnreadableFile(
            f"its header declares shape {_shown(layout.shape)} and dtype {layout.dtype}, {layout.size} bytes, and "
            f"there are {available}; the file is truncated or damaged, save it again"
        )
    check_memory(layout.size, f"an array of shape {_shown(layout.shape)}")
    # memory of `empty` is not taken before it is written to, so that it is the data that counts and not the header
    flat = np.empty(math.prod(layout.shape), layout.dtype)
    if layout.size:
        _fill(source, flat.view(np.uint8).data)
    return flat.reshape(layout.shape, order="F" if layout.fortran else "C")


def _fill(source: Source, buffer: memoryview) -> None:
    done = 0
    while done < len(buffer):
        count = source.readinto(buffer[done : done + READ_BYTES])
        if not count:
            raise UnreadableFile(f"it ends after {done} of the {len(buffer)} bytes of its array; save it again")
        done += count


def _exactly(source: Source, size: int) -> bytes:
    data = source.read(size)
    if len(data) != size:
        raise UnreadableFile("it ends within the header of an array; the file is truncated, save it again")
    return data


def _parsed(header: str, header_bytes: int) -> Layout:
    found = [pattern.findall(header) for pattern in (DESCRIPTION, ORDER, SHAPE)]
    if any(len(matches) != 1 for matches in found):
        raise UnreadableFile(f"the header of its array is damaged: {quoted(header)}; save it again")
    (plain, _), order, shape = (matches[0] for matches in found)
    numbers = [number.strip().rstrip("L") for number in shape.split(",")]
    if numbers[-1] == "":
        numbers.pop()
    if not all(re.fullmatch(r"\d{1,18}", number) for number in numbers):
        raise UnreadableFile(f"the header of its array declares the shape ({quoted(shape)}); save it again")
    described = quoted(plain) if plain else "records"
    dtype = None
    if PLAIN_TYPE.fullmatch(plain):
        try:
            dtype = np.dtype(plain)
        except TypeError:
            raise UnreadableFile(f"the header of its array declares the unknown dtype {plain}; save it again") from None
    elif plain.lstrip("<>|=").startswith("O"):
        described = "Python objects"
    return Layout(dtype, tuple(int(number) for number in numbers), order == "True", header_bytes, described)


def _shown(shape: tuple[int, ...]) -> str:
    return quoted(f"({', '.join(map(str, shape))})")

"""The bytes of a checkpoint.

```
0       8 bytes      MAGIC
8       uint64       h, the length of the header
16      h bytes      the header: JSON in UTF-8
16 + h  n·m numbers  the vectors: n×m, row by row (C order), of the dtype that the header names
last    uint32       CRC-32 of all bytes before
```

All numbers are little-endian. Rows i to j are one range of bytes: processes that hold ranges of rows write and read
each its own, wherever another number of processes had its borders, and pass the CRC-32 on from range to range.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..store.guard import UnreadableFile, amount
from ..store.writing import plain_number

MAGIC = b"\x93SMCKPT\n"
START_BYTES, TRAILER_BYTES = 16, 4
# A header is some kilobytes; parsed JSON takes up to 25 times its length.
MAX_HEADER_BYTES = 2_000_000
# The dtypes of vectors.
DTYPES = ("<f4", "<f8", "<c8", "<c16")


class Layout(NamedTuple):
    """Where the vectors are: `columns` of n numbers each, behind the `head_bytes` of magic, length and header."""

    head_bytes: int
    n: int
    columns: int
    dtype: np.dtype[Any]

    @property
    def row_bytes(self) -> int:
        """The bytes of a row."""
        return self.columns * self.dtype.itemsize

    def offset(self, row: int) -> int:
        """Where a row begins; the trailer, for row n."""
        return self.head_bytes + row * self.row_bytes

    @property
    def file_bytes(self) -> int:
        """The bytes of the whole file."""
        return self.offset(self.n) + TRAILER_BYTES


def encoded_head(said: Mapping[str, Any]) -> bytes:
    """Magic, length and header."""
    text = json.dumps(said, default=plain_number).encode()
    return MAGIC + len(text).to_bytes(8, "little") + text


def header_bytes(start: bytes, size: int) -> int:
    """The length of the header, from the first bytes of a file of `size` bytes."""
    if len(start) < START_BYTES or start[:8] != MAGIC:
        raise UnreadableFile("it does not begin like a checkpoint; it is truncated or another kind of file")
    length = int.from_bytes(start[8:START_BYTES], "little")
    if length > min(size, MAX_HEADER_BYTES):
        raise UnreadableFile(
            f"its header claims {amount(length)} in a file of {amount(size)}, and at most {amount(MAX_HEADER_BYTES)} "
            f"are read; the file is damaged"
        )
    return length


def trailer(crc: int) -> bytes:
    """The last bytes of the file."""
    return crc.to_bytes(TRAILER_BYTES, "little")


def crc_of(data: Any, crc: int = 0) -> int:
    """The CRC-32 of bytes that follow those with this `crc`."""
    return zlib.crc32(data, crc)

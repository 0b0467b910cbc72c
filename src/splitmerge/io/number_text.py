"""Text that consists of numbers and blanks, checked byte by byte without making an object of each number.

SciPy's parser of Matrix Market files reads the longest number at the beginning of a word and ignores the rest of the
line, so that 1.0D+02 is 1, 2,5 is 2, and a complex entry in a real matrix loses its imaginary part.
"""

from __future__ import annotations

import numpy as np

from ..solution.store.guard import UnreadableFile

BLANK, DIGIT, SIGN, POINT, EXPONENT, LETTER, OTHER = range(7)
# What may stand before what; letters are those of nan, inf and infinity.
FOLLOWERS = {
    BLANK: (BLANK, DIGIT, SIGN, POINT, LETTER),
    DIGIT: (BLANK, DIGIT, POINT, EXPONENT),
    SIGN: (DIGIT, POINT, LETTER),
    POINT: (BLANK, DIGIT, EXPONENT),
    EXPONENT: (DIGIT, SIGN),
    LETTER: (BLANK, LETTER),
    OTHER: (),
}
# Within one number: a second point, a second exponent, a point in the exponent.
TWICE = (bytes([POINT, POINT]), bytes([EXPONENT, EXPONENT]), bytes([EXPONENT, POINT]))
NOT_MARKS = bytes([DIGIT, SIGN, LETTER])
# What a pair of classes means, by 8 times the first and the second.
FINE, WRONG, BEGINNING = range(3)
NEWLINE = 10


def _classes() -> bytes:
    table = bytearray([OTHER]) * 256
    for members, kind in (
        (b" \t\r\n", BLANK),
        (b"0123456789", DIGIT),
        (b"+-", SIGN),
        (b".", POINT),
        (b"eEdD", EXPONENT),
        (b"naiftyNAIFTY", LETTER),
    ):
        for member in members:
            table[member] = kind
    return bytes(table)


def _meanings(*, whole: bool) -> bytes:
    table = bytearray([WRONG]) * 256
    for first, seconds in FOLLOWERS.items():
        for second in seconds:
            if not whole or second not in (POINT, EXPONENT):
                table[8 * first + second] = BEGINNING if first == BLANK != second else FINE
    return bytes(table)


CLASS_OF = _classes()
MEANING = {whole: _meanings(whole=whole) for whole in (False, True)}


class NumberText:
    """Checks a text piece by piece and counts its numbers; `line` is that of the next piece."""

    def __init__(self, line: int, *, whole: bool) -> None:
        self.line = line
        self.count = 0
        self.has_fortran_exponents = False
        self._whole = whole
        self._last = bytes([BLANK])
        self._last_mark = bytes([BLANK])

    def feed(self, text: bytes) -> None:
        """Check the next piece."""
        classes = self._last + text.translate(CLASS_OF)
        numbers = np.frombuffer(classes, np.uint8)
        meanings = (8 * numbers[:-1] + numbers[1:]).tobytes().translate(MEANING[self._whole])
        wrong = meanings.find(WRONG)
        if wrong >= 0:
            raise self._error(text, wrong)
        marks = self._last_mark + classes[1:].translate(None, NOT_MARKS)
        if any(pair in marks for pair in TWICE):
            raise self._error(text, None)
        # NumPy counts frequent bytes faster than bytes.count
        self.count += int(np.count_nonzero(np.frombuffer(meanings, np.uint8) == BEGINNING))
        self.has_fortran_exponents |= b"D" in text or b"d" in text
        self.line += int(np.count_nonzero(np.frombuffer(text, np.uint8) == NEWLINE))
        self._last, self._last_mark = classes[-1:], marks[-1:]

    def end(self) -> None:
        """Check that the text does not end within a number."""
        self.feed(b"\n")

    def _error(self, text: bytes, place: int | None) -> UnreadableFile:
        kind = "whole numbers" if self._whole else "numbers"
        if place is None:
            return UnreadableFile(f"a number in line {self.line} or later has two points or exponents; correct it")
        line = self.line + text.count(b"\n", 0, place)
        byte = text[place]
        shown = repr(chr(byte)) if 32 < byte < 127 else f"the byte {byte:#04x}"
        return UnreadableFile(f"line {line}: only {kind} are expected here, and there is {shown}; check this line")

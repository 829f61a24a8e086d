"""Owns how tall every row of a long list is: guessed until measured, summed in logarithmic time."""

from __future__ import annotations

from collections.abc import Iterable


class RowHeights:
    """Heights in pixels of rows stacked from zero; changing one never touches the others.

    The sums are a binary indexed tree (Fenwick 1994): `_sums[i]` holds the heights of the
    `i & -i` rows that end at row `i - 1`, so a prefix is found, and a height changed, in log n steps.
    """

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._measured = bytearray()
        self._sums: list[int] = [0]

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        """Height of all rows together."""
        return self.top(len(self._heights))

    def reset(self, guesses: Iterable[int]) -> None:
        """Forget everything and start again with one guess a row."""
        self._heights = list(guesses)
        self._measured = bytearray(len(self._heights))
        sums = [0, *self._heights]
        for index in range(1, len(sums)):
            parent = index + (index & -index)
            if parent < len(sums):
                sums[parent] += sums[index]
        self._sums = sums

    def insert(self, row: int, guess: int) -> None:
        """Put a row with a guessed height before `row`; costs the number of rows behind it."""
        behind = [(self._heights[i], self._measured[i]) for i in range(row, len(self))]
        self.truncate(row)
        self._push(guess, 0)
        for height, measured in behind:
            self._push(height, measured)

    def truncate(self, num_rows: int) -> None:
        """Drop all rows from `num_rows` on."""
        del self._heights[num_rows:]
        del self._measured[num_rows:]
        del self._sums[num_rows + 1 :]

    def height(self, row: int) -> int:
        """Return the height of `row`, measured or guessed."""
        return self._heights[row]

    def is_measured(self, row: int) -> bool:
        """Say whether the height of `row` is known and not guessed."""
        return bool(self._measured[row])

    def measure(self, row: int, height: int) -> None:
        """Replace what is thought of `row` by what is known."""
        change = height - self._heights[row]
        self._heights[row] = height
        self._measured[row] = 1
        if not change:
            return
        index = row + 1
        while index < len(self._sums):
            self._sums[index] += change
            index += index & -index

    def forget(self, row: int, guess: int) -> None:
        """Turn `row` back into a guess, because what it shows has changed."""
        self.measure(row, guess)
        self._measured[row] = 0

    def top(self, row: int) -> int:
        """Return where `row` begins: the heights of all rows before it."""
        total = 0
        while row:
            total += self._sums[row]
            row &= row - 1
        return total

    def row_at(self, y: int) -> int:
        """Return the row that covers `y`, else the nearest one. Raises IndexError without rows."""
        if not self._heights:
            raise IndexError("no rows")
        row, step = 0, 1 << (len(self._heights).bit_length() - 1)
        while step:
            if row + step <= len(self._heights) and self._sums[row + step] <= y:
                row += step
                y -= self._sums[row]
            step >>= 1
        return min(row, len(self._heights) - 1)

    def _push(self, height: int, measured: int) -> None:
        self._heights.append(height)
        self._measured.append(measured)
        index, total, step = len(self._heights), height, 1
        while step < (index & -index):
            total += self._sums[index - step]
            step <<= 1
        self._sums.append(total)

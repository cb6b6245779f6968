"""A ragged table behaves like a list of lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fitgym.evolution.ragged import Ragged
from fitgym.fitness._ranges import ranges

rows_of_numbers = st.lists(st.lists(st.integers(-9, 9), max_size=4), max_size=5)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 4)), max_size=6))
def test_ranges_are_gathered_in_order(pairs):
    owners, numbers = ranges(*np.array(pairs, dtype=np.intp).reshape(-1, 2).T)
    expected = [(i, first + k) for i, (first, length) in enumerate(pairs) for k in range(length)]
    assert list(zip(owners.tolist(), numbers.tolist(), strict=True)) == expected


def expect(table, rows):
    """The table holds these rows, each value with its double beside it."""
    owners, (values, doubled) = table.gather(np.arange(len(rows)))
    flat = [(i, value, 2.0 * value) for i, row in enumerate(rows) for value in row]
    assert list(zip(owners.tolist(), values.tolist(), doubled.tolist(), strict=True)) == flat
    assert len(table) == len(flat)


@given(st.lists(rows_of_numbers, max_size=5), st.data())
def test_rows_come_back_whatever_was_put_kept_and_retained(batches, data):
    table, rows = Ragged(np.int64, np.float64), []
    for batch in batches:
        new = np.arange(len(rows), len(rows) + len(batch))
        order = data.draw(st.permutations(range(len(batch))))
        flat = np.array([value for i in order for value in batch[i]], dtype=np.int64)
        if batch:
            table.put(new[list(order)], np.array([len(batch[i]) for i in order]), flat, 2.0 * flat)
            rows += batch
        expect(table, rows)
        if data.draw(st.booleans()):
            table.keep(table.column(0) > 0)
            rows = [[value for value in row if value > 0] for row in rows]
            expect(table, rows)
        if data.draw(st.booleans()) and rows:
            kept = sorted(data.draw(st.sets(st.sampled_from(range(len(rows))))))
            table.retain(np.array(kept, dtype=np.intp))
            rows = [rows[i] for i in kept]
            expect(table, rows)


def test_a_row_that_was_never_put_is_empty():
    table = Ragged(np.int64)
    table.put(np.array([3]), np.array([2]), np.array([7, 8]))
    owners, (values,) = table.gather(np.array([0, 3, 1, 3]))
    assert (owners.tolist(), values.tolist()) == ([1, 1, 3, 3], [7, 8, 7, 8])
    table.retain(np.array([1, 3, 99]))
    assert table.gather(np.array([1]))[1][0].tolist() == [7, 8]

import pytest

from holdfast.chain.range_size import FIRST_SIZE, TARGET_LOGS, RangeSize
from holdfast.indexer.ranges import marks, undo_floor


def test_quiet_ranges_double_up_to_the_largest_and_refused_ones_are_halved_down_to_one_block():
    size = RangeSize(first=100, largest=1000)
    sizes = []
    for _ in range(5):
        size.granted(size.value, 0)
        sizes.append(size.value)
    assert sizes == [200, 400, 800, 1000, 1000]
    size.granted(3, 0)
    assert size.value == 1000, "a range that ended at the chain says nothing about size"
    for _ in range(20):
        size.refused(size.value)
    assert size.value == 1
    size = RangeSize()
    size.granted(FIRST_SIZE, 10 * TARGET_LOGS)
    assert size.value == FIRST_SIZE // 20, "a full range shrinks towards the target"


def test_a_refused_size_is_a_ceiling_for_some_time():
    size = RangeSize(first=1000)
    size.refused(1000)
    for requests, value in ((19, 500), (1, 1000), (19, 1000), (1, 2000)):
        for _ in range(requests):
            size.granted(size.value, 0)
        assert size.value == value


def test_marks_thin_out_with_distance_from_the_head():
    assert marks(0, 40, 40) == [9, 25, 33, 37, 39, 40]
    assert marks(10, 20, 40) == [20]
    assert marks(20, 36, 40) == [25, 33, 36]
    assert marks(5, 5, 5) == [5]


@pytest.mark.parametrize(
    ("last", "head", "depth", "floor"), [(10, 10, 4, 6), (3, 10, 4, 3), (8, 10, 4, 6), (2, 2, 100, -1), (9, 3, 4, 5)]
)
def test_the_undo_floor_follows_the_head_but_never_passes_the_index(last, head, depth, floor):
    assert undo_floor(last, head, depth) == floor

"""Processes that work for another: none outlives what it was started for."""

from __future__ import annotations

import time
from multiprocessing import active_children

import pytest

from steptime.planning.workers import ProcessPool

AGES_S = 3600.0
"""Longer than any test may run: waiting for it is a failure."""


@pytest.mark.parametrize("reason", [KeyboardInterrupt, ValueError])
def test_who_stops_a_pool_waits_for_no_work_and_leaves_no_process(
    reason: type[BaseException],
) -> None:
    others = {*active_children()}

    def broken_off() -> None:
        with ProcessPool(2) as pool:
            works = [pool.submit(time.sleep, AGES_S) for _ in range(100)]
            while not works[0].running():
                time.sleep(0.01)
            # As one that gathers answers does when it is stopped.
            for work in works:
                work.cancel()
            raise reason

    with pytest.raises(reason):
        broken_off()
    assert not {*active_children()} - others


def test_a_pool_that_is_not_stopped_finishes_its_work() -> None:
    with ProcessPool(1) as pool:
        begun = pool.submit(pow, 2, 10)
    assert begun.result() == 1024

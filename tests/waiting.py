"""Wait for what other processes do."""

import time


def wait_until(condition, seconds=40):
    """Return when it holds; an assertion fails if it does not in time."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    assert condition()

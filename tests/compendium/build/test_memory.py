import subprocess
import sys

from compendium.build.memory import peak_memory

HOLD = "held = bytearray({size}); held[::4096] = bytes(len(held[::4096])); {then}"
ASK = "print('held', flush=True); input()"


def holding(mib, then=ASK):
    return [sys.executable, "-c", HOLD.format(size=mib * 2**20, then=then)]


def test_what_a_process_and_its_child_hold_together_is_seen():
    child = f"import subprocess; subprocess.run({holding(60)!r})"
    with peak_memory() as peak:
        with subprocess.Popen(
            holding(90, child), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as started:
            assert started.stdout.readline() == "held\n"
            while peak() < 150:
                assert started.poll() is None
            started.communicate("\n")
        at_most = peak()
    # beside what they hold, two interpreters
    assert 150 <= at_most < 150 + 2 * 60


def test_nothing_is_held_where_nothing_is_started():
    held = bytearray(2**26)
    with peak_memory() as peak:
        assert len(held) == 2**26
    assert peak() == 0

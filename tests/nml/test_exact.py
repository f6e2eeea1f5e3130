from memdlib import nml
from memdlib.nml import exact


def test_every_name_is_there():
    for door in (nml, exact):
        assert door.__all__ == sorted(door.__all__)
        assert all(hasattr(door, name) for name in door.__all__)
    assert not set(nml.__all__) & set(exact.__all__)

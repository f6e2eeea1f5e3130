"""Read tar archives in memory: nothing is unpacked, so no name can lead anywhere."""

import hashlib
import tarfile
import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path


def read_archive(path: Path, root: str = "") -> dict[str, bytes]:
    """Read the regular files of a tar archive, compressed or not.

    Parameters
    ----------
    path : Path
    root : str, default=""
        Folder, at any depth, whose files are wanted; an archive that has no such
        folder holds nothing else, and all its files are.

    Returns
    -------
    dict of str to bytes
        Content by name. The folders that all names begin with are left out, so that
        archives which differ in their outermost folders are the same.

    Raises
    ------
    ValueError
        If the file is not an archive, or is cut off.

    Examples
    --------
    >>> import io, tarfile, tempfile
    >>> from pathlib import Path
    >>> from memdlib.datasets.archives import read_archive
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.tar")
    ...     with tarfile.open(path, "w") as tar:
    ...         for name in ("top/train/1", "top/test/2"):
    ...             info = tarfile.TarInfo(name)
    ...             info.size = 2
    ...             tar.addfile(info, io.BytesIO(b"ab"))
    ...     sorted(read_archive(path))
    ['test/2', 'train/1']
    """
    status = path.stat()
    return dict(_read(path, root, status.st_mtime_ns, status.st_size))


# The newest archive is kept: a data set of many tasks is opened for each of them.
@lru_cache(maxsize=1)
def _read(path: Path, root: str, changed: int, size: int) -> Mapping[str, bytes]:
    found = {}
    try:
        with tarfile.open(path) as tar:
            for member in tar:
                if member.isreg():
                    found[member.name] = tar.extractfile(member).read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise ValueError(f"not a whole tar archive ({error})") from error
    if root:
        inside = f"/{root.strip('/')}/"
        found = {k: v for k, v in found.items() if inside in f"/{k}"} or found
    common = len(_common_folders(list(found)))
    return {"/".join(name.split("/")[common:]): found[name] for name in found}


def tree_sha256(files: Mapping[str, bytes]) -> str:
    r"""Hash the content of an archive, whatever its packing.

    Parameters
    ----------
    files : mapping of str to bytes
        As from :func:`read_archive`.

    Returns
    -------
    str
        SHA-256 over the lines ``<sha256 of the file>  <name>\n``, sorted by name.

    Examples
    --------
    >>> from memdlib.datasets.archives import tree_sha256
    >>> tree_sha256({"a": b"1", "b": b"2"}) == tree_sha256({"b": b"2", "a": b"1"})
    True
    """
    total = hashlib.sha256()
    for name in sorted(files):
        content = hashlib.sha256(files[name]).hexdigest()
        total.update(f"{content}  {name}\n".encode())
    return total.hexdigest()


def _common_folders(names: list[str]) -> list[str]:
    """Folders that every name begins with."""
    if not names:
        return []
    first, last = min(names).split("/")[:-1], max(names).split("/")[:-1]
    common = []
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        common.append(one)
    return common

"""Put the context of RO-Crate into the cache of roc-validator, which runs offline.

It runs in the environment of the verifiers. The context is that of RO-Crate 1.3, which
comes with the library rocrate, in the place of that of 1.2, which comes with nothing.
"""

import io
import sys
from pathlib import Path

from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse


class FromFile(HTTPAdapter):
    """Answers every request by one file."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path

    def send(self, request, **more):
        body = io.BytesIO(self.path.read_bytes())
        headers = {"Content-Type": "application/ld+json"}
        answer = HTTPResponse(body, headers, 200, preload_content=False)
        return self.build_response(request, answer)


if __name__ == "__main__":
    cache, address, path = sys.argv[1:]
    session = CachedSession(cache, backend="sqlite", expire_after=-1)
    session.mount("https://", FromFile(Path(path)))
    session.get(address, headers={"Accept": "application/ld+json"})

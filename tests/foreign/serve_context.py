"""Put a context of JSON-LD into the cache of roc-validator, which runs offline.

It runs in the environment of the verifiers. The library rocrate brings the context of
the version of RO-Crate that it writes; the address is that of the same version.
"""

import sys
from pathlib import Path

from requests_cache import CachedRequest, CachedResponse, CachedSession

if __name__ == "__main__":
    cache, address, path = sys.argv[1:]
    session = CachedSession(cache, backend="sqlite", expire_after=-1)
    context = CachedResponse(
        content=Path(path).read_bytes(),
        headers={"Content-Type": "application/ld+json"},
        request=CachedRequest(method="GET", url=address),
        status_code=200,
        url=address,
    )
    session.cache.save_response(context)

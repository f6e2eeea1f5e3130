"""A data set of our own making, and a server on the loopback that offers its file."""

import contextlib
import hashlib
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memdlib.datasets.registry import DataFile, Entry

CONTENT = b"a file of our own"


class Server:
    """Answers every request with `body`, announced as `length` bytes, after `gate`."""

    def __init__(self, body: bytes) -> None:
        self.body, self.status, self.length = body, 200, len(body)
        self.gate = threading.Event()
        self.gate.set()
        self.requests: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append(self.path)
                server.gate.wait(10)
                with contextlib.suppress(ConnectionError):  # the client has given up
                    self.send_response(server.status)
                    self.send_header("Content-Length", str(server.length))
                    self.end_headers()
                    self.wfile.write(server.body)

            def log_message(self, *args: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/folder/tiny.bin"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server(CONTENT)
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.gate.set()
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def dead_url(monkeypatch: pytest.MonkeyPatch) -> str:
    """A URL on a port of the loopback where nobody listens."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    return f"http://127.0.0.1:{port}/tiny.bin"


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """An empty mirror and an empty cache, in force."""
    mirror, cache = tmp_path / "mirror", tmp_path / "cache"
    mirror.mkdir()
    monkeypatch.setenv("MEMDLIB_DATA", str(mirror))
    monkeypatch.setenv("MEMDLIB_CACHE", str(cache))
    return mirror, cache


@pytest.fixture
def make_entry() -> Callable[..., Entry]:
    def make(
        content: bytes = CONTENT,
        *,
        path: str = "gene/tiny.bin",
        url: str = "http://127.0.0.1:1/tiny.bin",
        hashes: dict[str, str] | None = None,
        **changes: object,
    ) -> Entry:
        if hashes is None:
            hashes = {"sha256": hashlib.sha256(content).hexdigest()}
        facts = {
            "name": "tiny",
            "files": (DataFile(path, url=url, **hashes),),
            "reader": "r_list",
            "shape": (3, 2),
            "classes": {"normal": 1, "tumour": 2},
            "labels": {"n": "normal", "t": "tumour"},
            "source": "made for a test",
            "licence": "none",
        }
        return Entry(**{**facts, **changes})

    return make

"""A data set of our own making, and a server on the loopback that offers its file."""

import contextlib
import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from compendium.data.registry import DataFile, Entry

CONTENT = b"a file of our own"


def tar_of(path, files):
    """A tar archive of files, in their order, compressed by gzip."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


class Server:
    """Answers every request with `body`, announced as `length` bytes."""

    def __init__(self):
        self.body, self.status, self.length = CONTENT, 200, len(CONTENT)
        self.requests = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append(self.path)
                with contextlib.suppress(ConnectionError):  # the client has given up
                    self.send_response(server.status)
                    self.send_header("Content-Length", str(server.length))
                    self.end_headers()
                    self.wfile.write(server.body)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/folder/tiny.bin"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """An empty mirror and an empty cache, in force."""
    mirror, cache = tmp_path / "mirror", tmp_path / "cache"
    mirror.mkdir()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("MEMDLIB_DATA", str(mirror))
    monkeypatch.setenv("MEMDLIB_CACHE", str(cache))
    return mirror, cache


@pytest.fixture
def make_entry():
    def make(content=CONTENT, *, path="gene/tiny.bin", url="", hashes=None, **changes):
        hashes = hashes or {"sha256": hashlib.sha256(content).hexdigest()}
        facts = {
            "name": "tiny",
            "files": (DataFile(path, url=url, **hashes),),
            "reader": "r_list",
            "settings": {"skip": 0},
            "shape": (3, 2),
            "classes": {"normal": 1, "tumour": 2},
            "labels": {"n": "normal", "t": "tumour"},
            "source": "made for a test",
            "licence": "none",
            "notes": " A set of three.\n",
        }
        return Entry(**{**facts, **changes})

    return make

"""A toolchain of one tiny package, and the package index that it comes from."""

import json
import select
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from segscope.capture.toolchain.spec import ToolchainSpec

RUNNING_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


def tiny_spec(*pins: str, size_gb: float = 0.001, name: str = "tiny") -> ToolchainSpec:
    return ToolchainSpec(name, RUNNING_PYTHON, size_gb, pins or ("tiny==1.0",))


def write_wheel(folder: Path, version: str, package: str = "tiny") -> Path:
    """Write a wheel of one module, which knows its version, and a script that prints it."""
    info = f"{package}-{version}.dist-info"
    files = {
        f"{package}.py": f"version = {version!r}\ndef main(): print(version)\n",
        f"{package}_data/numbers.txt": "1 2 3\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{package} = {package}:main\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    path = folder / f"{package}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return path


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    write_wheel(folder, "1.0")
    write_wheel(folder, "2.0")
    write_wheel(folder, "1.0", "other")
    return folder


@pytest.fixture
def local_index(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip find the tiny package, and nothing else."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))


class HeldIndex:
    """A package index that lets pip wait for its answer, so that an installation stands still."""

    def __init__(self, wheels: Path):
        self.asked = threading.Event()
        self.hung_up = threading.Event()
        self._open_end, held_end = socket.socketpair()
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.asked.set()
                readable, _, _ = select.select([self.connection, held_end], [], [])
                if self.connection in readable:
                    index.hung_up.set()
                    return
                name = self.path.strip("/")
                links = "".join(f'<a href="/{wheel.name}">{wheel.name}</a>' for wheel in wheels.iterdir())
                content = (wheels / name).read_bytes() if name else links.encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/octet-stream" if name else "text/html")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._held_end = held_end
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self) -> None:
        """Answer every request, from now on."""
        self._open_end.sendall(b"!")

    def close(self) -> None:
        self.answer()
        self._server.shutdown()
        self._server.server_close()
        self._open_end.close()
        self._held_end.close()


@pytest.fixture
def held_index(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldIndex]:
    index = HeldIndex(wheels)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", index.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield index
    index.close()


_INSTALLER = """
import json, sys
from pathlib import Path
from segscope.capture.toolchain.install import install
from segscope.capture.toolchain.spec import ToolchainSpec
fields = json.loads(sys.argv[1])
print(install(ToolchainSpec(**fields | {"pins": tuple(fields["pins"])}), Path(sys.argv[2])))
"""


def start_installer(spec: ToolchainSpec, root: Path) -> "subprocess.Popen[str]":
    """Install in a process of its own, which prints what `install` returned."""
    return subprocess.Popen(
        [sys.executable, "-c", _INSTALLER, json.dumps(asdict(spec)), str(root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_signals,
    )


def _heed_signals() -> None:
    """A job in the background of a shell ignores SIGINT, one under nohup SIGHUP, and so would what it starts."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)

"""The bytes of a file that may be compressed, which its first bytes tell, not its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Protocol

from segscope.errors import SegscopeError

CHUNK = 1 << 18
"""At most so many bytes are read at once."""

_MAGIC = {b"\x1f\x8b": "gzip", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
_STEP = 1 << 13  # what is lost before damage: a call that fails gives nothing
_ZSTD_INPUT = 1 << 12  # zstandard has no bound for what comes out, so little goes in


class DamagedError(Exception):
    """Compressed data is damaged or ends early."""


class Readable(Protocol):
    """An open binary file; it need not be able to seek."""

    def read(self, size: int = -1, /) -> bytes:
        """Read ``size`` bytes, fewer only at the end."""
        ...

    def read1(self, size: int = -1, /) -> bytes:
        """Read at most ``size`` bytes, what is there at once; none at the end."""
        ...


class _Rejoined:
    """A file from whose beginning something was read."""

    def __init__(self, head: bytes, file: Readable) -> None:
        self._head = head
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._file.read(size)
        end = size if size >= 0 else None
        data, self._head = self._head[:end], self._head[len(self._head) if end is None else end :]
        return data


def decompressed(file: Readable, name: str) -> tuple[str, Iterator[bytes]]:
    """Return the compression (``gzip``, ``xz``, ``bzip2``, ``zstd``, or ``""``) and the content in chunks.

    The chunks end in DamagedError where the compressed data does not go on; all that can be read comes before.
    Raises SegscopeError where zstd cannot be read.
    """
    longest = max(map(len, _MAGIC))
    head = b""
    while len(head) < longest and (more := file.read1(CHUNK)):
        head += more
    for magic, compression in _MAGIC.items():
        if head.startswith(magic):
            return compression, _guarded(compression, _OPEN[compression](_Rejoined(head, file), name))
    return "", _plain(head, file)


def _plain(head: bytes, file: Readable) -> Iterator[bytes]:
    while head:
        yield head
        head = file.read1(CHUNK)


def _guarded(compression: str, chunks: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from chunks
    except EOFError:
        raise DamagedError(f"the {compression} data ends early") from None
    except Exception as error:  # each library has its own; an error of the file system has a number
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DamagedError(f"the {compression} data is damaged: {error}") from None


def _standard(module: str, opener: str) -> Callable[[_Rejoined, str], Iterator[bytes]]:
    def chunks(file: _Rejoined, name: str) -> Iterator[bytes]:
        stream = getattr(import_module(module), opener)(file)
        while data := stream.read1(_STEP):
            yield data

    return chunks


def _zstd(file: _Rejoined, name: str) -> Iterator[bytes]:
    try:
        return _zstandard(import_module("zstandard").ZstdDecompressor(), file)
    except ImportError:
        pass
    try:
        import_module("compression.zstd")
    except ImportError:
        raise SegscopeError(f"{name}: to read zstd data, run: pip install zstandard") from None
    return _standard("compression.zstd", "open")(file, name)


def _zstandard(decompressor: Any, file: _Rejoined) -> Iterator[bytes]:
    frame = None
    while data := file.read(_ZSTD_INPUT):
        while data:
            frame = frame or decompressor.decompressobj()
            yield frame.decompress(data)
            data = frame.unused_data if frame.eof else b""
            frame = None if frame.eof else frame
    if frame:
        raise EOFError


_OPEN: dict[str, Callable[[_Rejoined, str], Iterator[bytes]]] = {
    "gzip": _standard("gzip", "open"),
    "xz": _standard("lzma", "open"),
    "bzip2": _standard("bz2", "open"),
    "zstd": _zstd,
}

"""Batches of clean lines in, the text of fusions out; nothing here makes a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from segscope.dump.parts import Text
from segscope.dump.reader import FoundFusion, Stray, StreamReader
from segscope.dump.source import Batch
from segscope.errors import SegscopeError

MOST_STREAMS = 10_000


class Gather:
    """Keeps one reader for each stream."""

    def __init__(self) -> None:
        self._readers: dict[str, StreamReader] = {}

    def fusions(self, batches: Iterable[Batch]) -> Iterator[FoundFusion]:
        """Yield the fusions in the order in which they end."""
        for batch in batches:
            reader = self._readers.get(batch.stream)
            if reader is None:
                if len(self._readers) == MOST_STREAMS:
                    raise SegscopeError(f"line {batch.first_line}: more than {MOST_STREAMS} ranks are not read")
                reader = self._readers[batch.stream] = StreamReader(batch.stream)
            reader.feed(batch.first_line, batch.texts)
            yield from _taken(reader)
        for reader in self._readers.values():
            reader.end()
            yield from _taken(reader)

    @property
    def errors(self) -> list[Text]:
        """Lines in which nvFuser says that segmentation or a group failed, in the order of the source."""
        found = (text for reader in self._readers.values() for text in reader.errors)
        return sorted(found, key=lambda text: text.line)

    @property
    def strays(self) -> list[Stray]:
        """Parts of dumps that belong to no fusion that was found."""
        return [stray for reader in self._readers.values() for stray in reader.strays]


def _taken(reader: StreamReader) -> Iterator[FoundFusion]:
    while reader.found:
        yield reader.found.popleft()

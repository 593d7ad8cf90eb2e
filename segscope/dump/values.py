"""Tensors and iter domains: text to records (docs/dump-format.md 1.3)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from segscope.dump.extents import constant
from segscope.dump.scan import UnbalancedError, closing, split

if TYPE_CHECKING:
    from segscope.model import IterDomain

Record = dict[str, Any]

VALUE = re.compile(r"(?<![\w.:])(?:T\d+(?!\w)|(?:ptr|var|f4x2_|[idfbcas])\d+(?![\w(]))")
"""The name of a tensor or of a scalar."""

_NAME = r"T\d+"
_BEGIN = r"T(?<![\w.:]T)\d+"  # the name again, and nothing before it: with the letter first, re looks for the letter
_MEMORY = r"sym|[glst]"
_DTYPE = r"struct \{[^{}\[\]()=]{0,300}\}|\w[\w:]*(?:<[\w:<>, *]{0,100})?\*{0,8}"
_FLAT = r"[^\[\]]*"
_NESTED = rf"{_FLAT}(?:\[{_FLAT}\]{_FLAT})*"
_INSIDE = rf"{_FLAT}(?:\[{_NESTED}\]{_FLAT})*"
_POSITIONS = r"ca_pos|compute_with|produce_pos|maybe_produce_pos"
_SUFFIX = rf" (?:{_POSITIONS})\( [\w, ]*\)| \(DeviceMesh[{{}}\d, ]*\)"

# A mention whose brackets do not close, or are nested three deep, is matched up to its opening bracket.
_MENTION = re.compile(
    rf"({_BEGIN}_(?:{_MEMORY})(?:_(?:{_DTYPE}))?\[(?:{_INSIDE}\](?:{_SUFFIX})*)?)",
)
_PARTS = re.compile(rf"({_NAME})_({_MEMORY})(?:_({_DTYPE}))?\[({_INSIDE})\]((?:{_SUFFIX})*)")
_POSITION = re.compile(rf" ({_POSITIONS})\( (?:([^()]*), )?(\d{{1,18}}) \)")
_MESH = re.compile(r"\(DeviceMesh([^()]*)\)")
_ITER_DOMAIN = re.compile(
    r"([irbsnv?])"
    r"(S|V|UR|US|MMA|MV|G|B|(?:block|thread|device)Idx\.[xyz]|[sS]tream(?:Idx)?)"
    r"(\d{1,18})(Ragged)?\{(.+)\}(rf)?(_p)?(_c)?",
    re.DOTALL,
)


class Tensors:
    """The tensors of one fusion, gathered from their mentions."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self.conflicts: dict[str, str] = {}
        """Tensors of which a later mention differs from the first one, with that mention."""
        self._mentions: dict[str, str] = {}

    def abbreviate(self, text: str) -> str:
        """Return ``text`` with every mention of a tensor cut down to its name, and record the tensors.

        Raises UnbalancedError where a mention does not close, or its brackets are nested more than three deep.
        """
        pieces = _MENTION.split(text)
        if len(pieces) > 1:
            pieces[1::2] = [self._mentions.get(mention) or self._record(mention) for mention in pieces[1::2]]
        return "".join(pieces)

    def set_dtype(self, name: str, dtype: str) -> None:
        """Note the dtype that a group's list of inputs or outputs gives, for dumps whose tensors do not print it."""
        record = self.records.get(name)
        if record is not None and record["dtype"] is None:
            record["dtype"] = dtype

    def dtype(self, name: str) -> str | None:
        """Return the dtype of a tensor where it is known."""
        dtype: str | None = self.records.get(name, {}).get("dtype")
        return dtype

    def _record(self, mention: str) -> str:
        match = _PARTS.fullmatch(mention)
        if match is None:
            raise UnbalancedError(f"brackets of a tensor do not close, or are nested too deeply: {mention[:80]!r}")
        name, memory, dtype, domain, suffix = match.groups()
        record: Record = {
            "name": name,
            "memory": memory,
            "dtype": dtype,
            "domain": () if domain == " 0 " else iter_domains(domain),
        }
        if suffix:
            record |= _suffixes(suffix)
        if self.records.setdefault(name, record) is not record:
            self.conflicts[name] = mention
        self._mentions[mention] = name
        return name


class Names(Tensors):
    """Cuts mentions down to names, for those who do not ask what the tensors are."""

    def _record(self, mention: str) -> str:
        name = self._mentions[mention] = mention[: mention.index("_")]
        return name


def _suffixes(text: str) -> Record:
    """Read what is printed behind a domain: positions of inlining, and the device mesh."""
    record: Record = {}
    for kind, consumers, position in _POSITION.findall(text):
        record[kind] = int(position)
        if consumers:
            record["compute_with_consumers"] = consumers.split(", ")
    if match := _MESH.search(text):
        record["mesh"] = match.group(1)
    return record


@lru_cache(maxsize=8192)
def iter_domains(text: str) -> tuple[IterDomain, ...]:
    """Read iter domains with commas between them; the same text gives the same, for fusions repeat themselves."""
    if not (text := text.strip()):
        return ()
    parts = split(text, ",") if "(" in text or "[" in text else text.split(",")
    return tuple(iter_domain(part.strip()) for part in parts)


@lru_cache(maxsize=16384)
def iter_domain(text: str) -> IterDomain:
    """Read one iter domain, such as ``bS90{1 ex 2}`` or ``iS59{( 128 - 64 )}rf``."""
    from segscope.model import IterDomain

    match = _ITER_DOMAIN.fullmatch(text)
    if match is None or (not match[5].isalnum() and closing(text, match.start(5) - 1) != match.end(5)):
        raise UnbalancedError(f"not an iter domain: {text[:80]!r}")
    iter_type, parallel_type, number, ragged, extent, rfactor, padded, clustered = match.groups()
    more: Record = {}
    if ragged:
        extent, more = extent.removeprefix("extents="), {"ragged": True}
    elif " " in extent:
        extent, more = _bounds(extent)
    if rfactor:
        more["rfactor"] = True
    if padded:
        more["padded"] = True
    if clustered:
        more["clustered"] = True
    return IterDomain(
        iter_type=iter_type,
        parallel_type=parallel_type,
        number=int(number),
        extent=extent,
        size=constant(extent),
        **more,
    )


def _bounds(inside: str) -> tuple[str, Record]:
    """Return the extent in ``start : stop : extent ex expanded extent``, and the others that are there."""
    inside, *expanded = split(inside, " ex ")
    *bounds, extent = split(inside, " : ")
    found: Record = dict(zip(("start", "stop"), bounds, strict=False))
    if expanded:
        found |= {"expanded_extent": expanded[0], "expanded_size": constant(expanded[0])}
    return extent, found

"""Tensors and iter domains: text to records (spec section 1.3)."""

import re
from typing import Any

from segscope.dump.extents import constant
from segscope.dump.scan import UnbalancedError, closing, split

Record = dict[str, Any]

_HEAD = re.compile(r"(?<![\w.])(T\d+)_(sym|[glst])(_[^\[\](){}=;]*?)?\[")
_SUFFIX = re.compile(
    r" (?:ca_pos|compute_with|produce_pos|maybe_produce_pos)\( [^()]*\)| \(DeviceMesh\{[^()]*\}\)",
)
_ITER_DOMAIN = re.compile(
    r"([irbsnv?])"
    r"(S|V|UR|US|MMA|MV|G|B|(?:block|thread|device)Idx\.[xyz]|[sS]tream(?:Idx)?)"
    r"(\d{1,18})\{(.*)\}((?:rf|_p|_c)*)",
    re.DOTALL,
)


class Tensors:
    """The tensors of one fusion, gathered from their mentions."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}
        self._names: dict[str, str] = {}

    def abbreviate(self, text: str) -> str:
        """Return ``text`` with every mention of a tensor cut down to its name, and record the tensors."""
        out, position = [], 0
        while match := _HEAD.search(text, position):
            end = closing(text, match.end() - 1) + 1
            while suffix := _SUFFIX.match(text, end):
                end = suffix.end()
            mention = text[match.start() : end]
            name = self._names.get(mention)
            if name is None:
                name = self._names[mention] = self._record(match, mention)
            out += [text[position : match.start()], name]
            position = end
        out.append(text[position:])
        return "".join(out)

    def set_dtype(self, name: str, dtype: str) -> None:
        """Note the dtype that a group's list of inputs or outputs gives, for dumps whose tensors do not print it."""
        record = self.records.get(name)
        if record is not None and record["dtype"] is None:
            record["dtype"] = dtype

    def _record(self, match: re.Match[str], mention: str) -> str:
        name, memory, dtype = match.groups()
        domain_end = closing(mention, match.end() - match.start() - 1)
        domain = mention[match.end() - match.start() : domain_end].strip()
        record = {
            "name": name,
            "memory": memory,
            "dtype": dtype[1:] if dtype else None,
            "domain": [iter_domain(part) for part in split(domain, ", ")] if domain else [],
            "suffix": mention[domain_end + 1 :].strip(),
        }
        self.records.setdefault(name, record)
        return name


def iter_domain(text: str) -> Record:
    """Read one iter domain, such as ``bS90{1 ex 2}`` or ``iS59{( 128 - 64 )}rf``."""
    match = _ITER_DOMAIN.fullmatch(text.strip())
    if match is None:
        raise UnbalancedError(f"not an iter domain: {text[:80]!r}")
    iter_type, parallel_type, number, inside, marks = match.groups()
    bounds, *expanded = split(inside, " ex ")
    *start, extent = split(bounds, " : ")
    return {
        "iter_type": iter_type,
        "parallel_type": parallel_type,
        "number": int(number),
        "extent": extent,
        "size": constant(extent),
        "expanded_extent": expanded[0] if expanded else None,
        "expanded_size": constant(expanded[0]) if expanded else None,
        "start": " : ".join(start) or None,
        "rfactor": "rf" in marks,
        "padded": "_p" in marks,
        "clustered": "_c" in marks,
    }

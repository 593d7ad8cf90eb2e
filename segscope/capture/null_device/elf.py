"""What a shared library needs and offers, read from its dynamic section and dynamic symbols.

The symbol tables are read raw: torch's have some hundred thousand entries, too many for an object each.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym: name, info, other, section, value, size
VERSION_INDEX = struct.Struct("<H")  # Elf64_Versym: one for each symbol
HIDDEN = 0x8000  # the bit of a version index that is no part of it
UNDEFINED = 0  # SHN_UNDEF
STRONG = 1  # STB_GLOBAL


@dataclass(frozen=True)
class Import:
    """A symbol that a library must find elsewhere; ``library`` and ``version`` are empty if it says not where."""

    symbol: str
    library: str
    version: str


@dataclass(frozen=True)
class SharedLibrary:
    """A shared library's NEEDED names, the symbols it needs, and the names of those it defines."""

    needed: frozenset[str]
    imports: frozenset[Import]
    exports: frozenset[str]


def read_shared_library(path: Path) -> SharedLibrary | None:
    """Return what the file says, or None if it is no ELF library (a linker script, say)."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as file:
            elf = ELFFile(file)
            sections = {
                name: elf.get_section_by_name(name)
                for name in (".dynamic", ".dynsym", ".dynstr", ".gnu.version", ".gnu.version_r")
            }
            if sections[".dynamic"] is None or sections[".dynsym"] is None:
                return None
            return _read(sections)
    except ELFError:
        return None


def _read(sections: dict[str, Any]) -> SharedLibrary:
    versions: dict[int, tuple[str, str]] = {}
    if sections[".gnu.version_r"] is not None:
        for library, needed_versions in sections[".gnu.version_r"].iter_versions():
            versions |= {version["vna_other"]: (library.name, version.name) for version in needed_versions}
    imports, exports = set(), set()
    for name, binding, section, version_index in _symbols(sections):
        if section != UNDEFINED:
            exports.add(name)
        elif binding == STRONG:
            imports.add(Import(name, *versions.get(version_index, ("", ""))))
    return SharedLibrary(
        frozenset(tag.needed for tag in sections[".dynamic"].iter_tags("DT_NEEDED")),
        frozenset(imports),
        frozenset(exports),
    )


def _symbols(sections: dict[str, Any]) -> Iterator[tuple[str, int, int, int]]:
    """Yield name, binding, section and version index of each dynamic symbol but the first, which is empty."""
    names: bytes = sections[".dynstr"].data()
    symbols = list(SYMBOL.iter_unpack(sections[".dynsym"].data()))
    if sections[".gnu.version"] is None:
        indices = [0] * len(symbols)
    else:
        indices = [index & ~HIDDEN for (index,) in VERSION_INDEX.iter_unpack(sections[".gnu.version"].data())]
    for (name_offset, info, _, section, _, _), index in zip(symbols[1:], indices[1:], strict=True):
        name = names[name_offset : names.index(b"\0", name_offset)].decode()
        yield name, info >> 4, section, index

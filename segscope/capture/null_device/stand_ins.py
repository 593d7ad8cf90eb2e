"""Stand-ins for the CUDA libraries that torch's and nvFuser's wheels link to and that are not installed.

The segmenter calls none of them, and all together they take gigabytes; but without them the wheels do not load.
"""

from collections import defaultdict
from pathlib import Path

from segscope.capture.null_device.build import SOURCES, CCompiler, c_compiler, digest, made_once
from segscope.capture.null_device.elf import Import, SharedLibrary, read_shared_library
from segscope.home import home

WHEELS = ("torch", "nvfuser", "nvfuser_common", "nvfuser_direct", "nvf*.libs")

CUDA_LIBRARIES = (
    "libcublas", "libcudnn", "libcufft", "libcufile", "libcupti", "libcurand", "libcusolver", "libcusparse", "libnccl",
    "libnvJitLink", "libnvToolsExt", "libnvshmem",
)  # fmt: skip
"""How the names of NVIDIA's libraries begin, but for those that the null device itself provides."""

SUCCEEDING = ("libcublas", "libcudnn", "libcufft", "libcurand", "libcusolver", "libcusparse", "libnvToolsExt")
"""Those whose functions answer "success" and do nothing: a matrix product asks them. The others' end the process."""


def stand_ins(site_packages: Path) -> Path:
    """Return the folder with stand-ins for what is missing in ``site_packages``, after making it if need be.

    It is made again when a library of the wheels changes, or when one comes or goes in ``nvidia/*/lib``.
    """
    libraries = wheel_libraries(site_packages)
    installed = sorted(path.name for path in site_packages.glob("nvidia/*/lib/*.so*"))
    facts = [(path.relative_to(site_packages), (stat := path.stat()).st_size, stat.st_mtime_ns) for path in libraries]

    def make(folder: Path) -> None:
        read = [library for path in libraries if (library := read_shared_library(path))]
        present = {path.name for path in libraries}.union(installed)
        compiler = c_compiler()
        for name, symbols in _missing(read, present).items():
            _build(compiler, folder, name, symbols)

    return made_once(home() / "null-device" / "stand-ins" / digest([*facts, *installed]), make)


def wheel_libraries(site_packages: Path) -> list[Path]:
    """Return the shared libraries of torch's and nvFuser's wheels, where they have them."""
    return sorted(
        library
        for wheel in WHEELS
        for folder in site_packages.glob(wheel)
        for pattern in ("*.so*", "lib/*.so*")
        for library in folder.glob(pattern)
        if library.is_file()
    )


def _missing(libraries: list[SharedLibrary], present: set[str]) -> dict[str, list[Import]]:
    """Return the CUDA libraries to stand in for, and the symbols that are asked of each."""
    names = sorted(
        name
        for name in {name for library in libraries for name in library.needed}
        if name.startswith(CUDA_LIBRARIES) and name not in present
    )
    defined = {symbol for library in libraries for symbol in library.exports}
    missing: dict[str, set[Import]] = {name: set() for name in names}
    for asked in {asked for library in libraries for asked in library.imports}:
        if asked.library in missing:
            missing[asked.library].add(asked)
        elif not asked.library and asked.symbol not in defined and (owner := _owner(asked.symbol, names)):
            missing[owner].add(asked)
    return {name: sorted(symbols, key=lambda asked: asked.symbol) for name, symbols in missing.items()}


def _owner(symbol: str, libraries: list[str]) -> str | None:
    """Return the library whose name the symbol's name begins with: ``cusparseLtInit`` is ``libcusparseLt.so.0``'s."""
    stems = {name: name.split(".")[0].removeprefix("lib").lower() for name in libraries}
    owners = [name for name, stem in stems.items() if symbol.lower().startswith(stem)]
    return max(owners, key=lambda name: len(stems[name]), default=None)


def _build(compiler: CCompiler, folder: Path, library: str, symbols: list[Import]) -> None:
    source, script = folder / f"{library}.c", folder / f"{library}.map"
    source.write_text(_source(library, symbols), encoding="utf-8")
    script.write_text(_version_script(symbols), encoding="utf-8")
    compiler.shared_library(
        folder / library,
        *("-fno-builtin", f"-I{SOURCES}", source, SOURCES / "stand_in_answers.c", f"-Wl,--version-script={script}"),
    )


def _source(library: str, symbols: list[Import]) -> str:
    lines = ['#include "stand_in.h"']
    for symbol in sorted({asked.symbol for asked in symbols}):
        if not library.startswith(SUCCEEDING):
            lines.append(f'ABORTS("{library}", {symbol})')
        elif "create" in symbol.lower():
            lines.append(f"CREATES({symbol})")
        else:
            lines.append(f"SUCCEEDS({symbol})")
    return "\n".join(lines) + "\n"


def _version_script(symbols: list[Import]) -> str:
    """Put each symbol under the version that the wheels ask for.

    One that is asked for without a version goes under any: the dynamic linker then takes that, the only one.
    """
    versions: dict[str, set[str]] = defaultdict(set)
    for asked in symbols:
        versions[asked.version].add(asked.symbol)
    unversioned = versions.pop("", set())
    if not versions:
        return _version_node("", unversioned, hide_others=True)
    first, *others = sorted(versions)
    return "".join(
        [
            _version_node(first, versions[first] | unversioned, hide_others=True),
            *(_version_node(version, versions[version], hide_others=False) for version in others),
        ]
    )


def _version_node(version: str, symbols: set[str], *, hide_others: bool) -> str:
    exported = f"global: {' '.join(f'{symbol};' for symbol in sorted(symbols))}" if symbols else ""
    return f"{version} {{ {exported} {'local: *;' if hide_others else ''} }};\n"

"""Frees the disk space of the GPU code in torch's and nvFuser's libraries, which no null device runs."""

import ctypes
import errno
import os
from pathlib import Path

from segscope.capture.null_device.stand_ins import wheel_libraries

SECTION = ".nv_fatbin"

# linux/falloc.h
KEEP_SIZE = 0x01
PUNCH_HOLE = 0x02


def free_gpu_code(site_packages: Path) -> int:
    """Give the disk blocks of the wheels' GPU code back to the file system; return the number of bytes freed.

    The files keep their length and all offsets, and the freed part reads as zeros: loading them works as before, but
    a real GPU finds no kernel in them. A file with several hard links is left alone, for it may be a package manager's
    cache too. Returns 0 where the file system cannot do that.
    """
    return sum(_free(library) for library in wheel_libraries(site_packages))


def _free(library: Path) -> int:
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile

    before = library.stat()
    if before.st_nlink > 1:
        return 0
    with library.open("rb") as file:
        try:
            section = ELFFile(file).get_section_by_name(SECTION)
        except ELFError:
            return 0
        if section is None:
            return 0
        start, end = section["sh_offset"], section["sh_offset"] + section["sh_size"]
    try:
        with library.open("rb+") as file:
            _punch_hole(file.fileno(), start, end - start)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.ENOSYS, errno.EPERM, errno.EACCES, errno.EROFS):
            return 0
        raise
    return (before.st_blocks - library.stat().st_blocks) * 512


def _punch_hole(descriptor: int, start: int, size: int) -> None:
    """Free whole blocks and zero the rest of the range, as fallocate(2) with these two flags does."""
    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (
        ctypes.c_int(descriptor),
        ctypes.c_int(PUNCH_HOLE | KEEP_SIZE),
        ctypes.c_int64(start),
        ctypes.c_int64(size),
    )
    if libc.fallocate64(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))

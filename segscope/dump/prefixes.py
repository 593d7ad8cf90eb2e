"""What launchers and log collectors put in front of each line: taken off, and told apart by rank.

=====================================  ============================  ============================
in front of the line                   written by                    stream
=====================================  ============================  ============================
``[rank0]: ``, ``[rank0]:``            torch                         ``rank0``
``[default0]:``                        torchrun (name of the role)   ``default0``
``0: ``, `` 7: ``                      ``srun --label``              ``0``, ``7``
``[1,0]<stdout>:``                     ``mpirun --tag-output``       ``1,0``
``[0] ``                               ``mpiexec -prepend-rank``     ``0``
``web-1  | ``                          docker compose and service    ``web-1``
``[pod/web-0/app] ``                   ``kubectl logs --prefix``     ``pod/web-0/app``
``(worker pid=12, ip=10.0.0.1) ``      Ray                           ``worker pid=12, ip=10.0.0.1``
``Jul 22 12:34:56 host prog[1]: ``     syslog, journalctl            ``host prog[1]``
``job⇥step⇥2024-07-22T12:34:56Z ``     ``gh run view --log``         ``job``
``2024-07-22T12:34:56.1234567Z ``      GitHub Actions, docker        none
``[2024-07-22 12:34:56,123] ``         Python's logging              none
``12:34:56 ``, ``[12:34:56] ``         Jenkins                       none
=====================================  ============================  ============================

Several may stand one behind the other; their streams are joined by a blank. No line of a dump begins like one of them.
One blank belongs to the prefix, and what follows is kept as it is, since a dump is indented.

``[rank0]:`` and ``[1,0]<stdout>:`` are written with that blank and without it, and an indented line does not tell
which. So the lines decide that begin a dump and are never indented: each fixes the form for its prefix until the next
one. Before the first of them, a line right behind the colon says that there is no blank (not a ``[``, which is a
further prefix).
"""

from __future__ import annotations

import re

_END = "(?: |$)"
_TIME = r"\d\d(?:\d\d-\d\d-\d\d[T ]\d\d)?:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_STAMP = (rf"\[{_TIME}\]{_END}", rf"{_TIME}{_END}")
_FORMS = (  # each begins with one character or class, which re looks at first
    r"\[(?P<rank>[A-Za-z_]{1,40}\d{1,6})\]:",
    r"\[(?P<mpirun>[\w.@-]{1,200},\d{1,6})\]<std(?:out|err|diag)>:",
    rf"(?P<srun>\d{{1,6}}):{_END}",
    rf" {{1,5}}(?P<padded>\d{{1,6}}):{_END}",
    rf"\[(?P<mpiexec>\d{{1,6}}|pod/[\w./-]{{1,400}})\]{_END}",
    r"\((?P<ray>\w[\w.:-]{0,200} pid=\d{1,10}(?:, ip=[\d.]{1,20})?)\) ",
    rf"[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d (?P<syslog>[\w.-]{{1,200}} [\w./-]{{1,200}}(?:\[\d{{1,10}}\])?):{_END}",
    *_STAMP,
    rf"(?P<name>[\w.@/-]{{1,200}}) {{1,200}}\|{_END}",
    rf"(?P<job>[^\t\n]{{1,200}})\t[^\t\n]{{1,200}}\t{_TIME}{_END}",
)
_BLANK_OR_NOT = ("rank", "mpirun")

_PREFIX = re.compile("|".join(_FORMS), re.MULTILINE)
_EACH_STAMP = re.compile(f"^(?:{'|'.join(_STAMP)})", re.MULTILINE)
_PERHAPS = re.compile(r"\[| {0,5}\d|\(\w[\w.:-]{0,200} pid=|[A-Z][a-z][a-z] [ \d]\d ")

_BEGINNINGS = ("Segmented_Fusion Dump: ", "Segment the fusion ", "Fusion before PreSegmenter:", "Inputs:", "groups:")
_BLANK_BEGINNINGS = tuple(f" {beginning}" for beginning in _BEGINNINGS)
_ROUNDS = 4
_LONGEST = 500  # a stream whose name is longer does not get a longer one, so that time is linear in a line's length


class Prefixes:
    """Takes prefixes off, and remembers which of them are written with a blank."""

    def __init__(self) -> None:
        self.taken = 0
        self._blank: dict[str, bool] = {}

    def take_all(self, lines: str) -> tuple[str, list[str], bool]:
        """Take off what every line has alike, and timestamps: the stream, the lines, and whether no prefix is left."""
        stream = ""
        for _ in range(_ROUNDS):
            first = _PREFIX.match(lines)
            if first is None:
                texts = lines.split("\n")
                return stream, texts, not _on_any_of(texts, named="|" in lines or "\t" in lines)
            if first.lastgroup is None:
                lines, stamps = _EACH_STAMP.subn("", lines)
                self.taken += stamps
                continue
            inner = _joined(stream, first[first.lastgroup])
            common = self._common(first, inner, lines)
            if not common:
                break
            self.taken += lines.count("\n") + 1
            lines = lines[len(common) :].replace("\n" + common, "\n")
            stream = inner
        return stream, lines.split("\n"), False

    def take(self, line: str, stream: str) -> tuple[str, str]:
        """Take off every prefix of one line of a stream: the stream within it, and the text behind the prefixes."""
        at = 0
        while match := _PREFIX.match(line, at):
            self.taken += 1
            at = match.end()
            if match.lastgroup:
                stream = _joined(stream, match[match.lastgroup])
                if match.lastgroup in _BLANK_OR_NOT and self._with_blank(stream, line, at):
                    at += line.startswith(" ", at)
        return stream, line[at:]

    def _with_blank(self, stream: str, line: str, at: int) -> bool:
        if line.startswith(_BEGINNINGS, at):
            self._blank[stream] = False
        elif line.startswith(_BLANK_BEGINNINGS, at):
            self._blank[stream] = True
        elif at < len(line) and line[at] not in " [":
            self._blank.setdefault(stream, False)
        return self._blank.get(stream, True)

    def _common(self, first: re.Match[str], stream: str, lines: str) -> str:
        """Return the prefix with which each line begins and after which no line needs a look, or ``""``."""
        prefix = first[0]
        if first.lastgroup in _BLANK_OR_NOT:
            blank = self._blank.get(stream)
            begins = blank is not True and any(_on_any(prefix + beginning, lines) for beginning in _BLANK_BEGINNINGS)
            if blank is False:
                return prefix if not begins and _on_each(prefix, lines) else ""
            if not _on_each(prefix + " ", lines):
                return ""
            if begins:
                self._blank[stream] = True
            return prefix + " "
        return prefix if prefix.endswith(" ") and _on_each(prefix, lines) else ""


def _joined(outer: str, inner: str) -> str:
    if len(outer) > _LONGEST:
        return outer
    return f"{outer} {inner}" if outer else inner


def _on_any_of(lines: list[str], *, named: bool) -> bool:
    """Say whether a line has a prefix; ``named``: also one that begins with a name. Dumps repeat their lines a lot."""
    distinct = set(lines)
    return any(map(_PREFIX.match, distinct if named else filter(_PERHAPS.match, distinct)))


def _on_each(prefix: str, lines: str) -> bool:
    return lines.startswith(prefix) and lines.count("\n" + prefix) == lines.count("\n")


def _on_any(beginning: str, lines: str) -> bool:
    return lines.startswith(beginning) or "\n" + beginning in lines

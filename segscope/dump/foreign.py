"""Lines of other programs among nvFuser's: pytest, Python, torch, NCCL, progress bars, CI systems."""

from __future__ import annotations

import re

_OUTCOME = r"(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|SUBPASS|RERUN)"
_PERCENT = r"(?: +\[ *\d{1,3}%\])?"
_RESULT = r"(?:no tests ran|\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)\b)"
_KINDS = {
    "pytest": (
        rf"{_OUTCOME}{_PERCENT} *$",
        rf"{_OUTCOME} (?:\[\d+\] )?\S+\.py\b",
        r"\S+\.py::\S",
        rf"\S+\.py(?: [.FEsxXpP]+{_PERCENT})? *$",
        rf"[.FEsxX]+{_PERCENT} *$",
        r"\[gw\d+\] ",
        r"gw\d+ [\[CI]",
        rf"={{3,}} (?:test session starts|ERRORS|FAILURES|PASSES|warnings|short test summary|slowest|{_RESULT})",
        r"-{3,} (?:Captured (?:stdout|stderr|log)|live log|generated xml file)",
        r"!{3,} (?:stopping|Interrupted|KeyboardInterrupt|xdist)",
        r"_{3,} .+ _{3,} *$",
        r"(?:_ ){3,}",
        r"(?:platform|rootdir:|configfile:|plugins:|cachedir:|testpaths:|collected|collecting|created:|asyncio:) ?",
        r"-- Docs: https://docs\.pytest\.org",
        r"[E>] {3}",
        r"\S+\.py:\d+: (?:\w+Error|\w*Exception|in \w+|Failed)? *$",
        _RESULT,
    ),
    "warning": (
        r".{0,500}\.py:\d+: \w*Warning\b",
        r"\w*Warning: ",
        r" +(?:\w+\.)?warn(?:ings\.warn(?:_explicit)?|ing|_once|_deprecated)?\(",
    ),
    "torch": (
        r"\[[CDEFIVW]\d{0,4}\b.{0,200}\.(?:cpp|cc|cu|h|py):\d+\]",
        r"[CDEFIVW]\d{4} \d\d:\d\d:\d\d\.\d+ ",
        r"\[(?:\w+/)*\w+\] \[(?:DEBUG|INFO|WARNING|ERROR)\]",
        r"Setting OMP_NUM_THREADS",
        r"\*{20,} *$",
    ),
    "nccl": (r"[\w.-]+:\d+:\d+ \[\d+\] NCCL ", r"NCCL (?:version|INFO|WARN)"),
    "progress": (r".{0,200}?\d{1,3}%\|", r".{0,200}(?:it/s|s/it|B/s)[\],]", r".{0,100}\d{1,3}% [━╸╺ ]+"),
    "traceback": (
        r"Traceback \(most recent call last\):",
        r" {2}File \".{0,1000}\", line \d+",
        r"[\w.]*(?:Error|Exception|Interrupt|Exit)(?:: | *$)",
        r"During handling of the above exception",
        r"The above exception was the direct cause",
        r" +[~^]+ *$",
        r"Exception raised from ",
        r"frame #\d+: ",
        r"<omitting python frames>",
    ),
    "crash": (
        r"(?:.{0,300}: +\d+ )?(?:Segmentation fault|Floating point exception|Aborted|Killed|Bus error)\b",
        r"Fatal Python error: ",
        r"terminate called ",
        r" +what\(\): ",
        r"\*{3} (?:Aborted|Process received signal|SIG\w+)",
        r"(?:srun|slurmstepd|mpirun|prterun): (?:error|\*{3})",
    ),
    "log": (r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b(?::| |$)", r"\[(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\]"),
    "ci": (r"##\[\w+\]", r"::(?:group|endgroup|error|warning|notice|debug|add-mask)\b", r"section_(?:start|end):\d+:"),
}
_FOREIGN = re.compile("|".join(f"(?P<{kind}>{'|'.join(forms)})" for kind, forms in _KINDS.items()))

HEADINGS = (
    "Segmented_Fusion Dump: -- Re-written complete fusion:{",
    "Segmented_Fusion Dump: -- fusion segments:",
    "Segment the fusion (Original Fusion Un-modified):",
    "Fusion before PreSegmenter:",
    "***Runtime***: Try to schedule fusion un-segmented:",
    "***Runtime***: Try to schedule fusion segmented:",
    "***Runtime***: Has segment hints, skip un-segmented scheduling.",
    "Fusion IR after pre-segmenter optimization passes:",
    "**Segmenter** Considering fusion:",
)


def foreign(text: str) -> str | None:
    """Return the kind of program that writes such a line (``pytest``, ``warning``, ``torch``, ...), or None.

    It is for lines that do not fit where they stand; a line of a dump is never foreign.
    """
    match = _FOREIGN.match(text)
    return match.lastgroup if match else None


def heading(text: str) -> str:
    """Return the heading with which a line ends, or ``""``.

    Another program may have left its own line open before: ``tests/test_rope.py .Segmented_Fusion Dump: -- fusion
    segments:``.
    """
    text = text.rstrip()
    if text.endswith(HEADINGS):
        return next(known for known in HEADINGS if text.endswith(known))
    return ""

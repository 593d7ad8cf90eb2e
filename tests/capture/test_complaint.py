"""One line out of what a child process printed as it died."""

import pytest

from segscope.capture.complaint import complaint

TERMINATE = """some warning
terminate called after throwing an instance of 'nvfuser::nvfError'
  what():  Parsing DISABLE failed. Invalid option: 'bogus'
Available options: fma, magic_zero
Exception raised from parseEnvOptions at csrc/options.cpp:44 (most recent call first):
frame #0: nvfuser::nvfCheckFail(char const*) + 0x10
<omitting python frames>

"""

WARNING = """/lib/python3.12/site-packages/thunder/executors/transformer_engineex.py:26: UserWarning: none found
  warnings.warn("transformer_engine module not found!")
"""


@pytest.mark.parametrize(
    ("error", "stderr", "said"),
    [
        ("RuntimeError: no\nluck", "noise", "RuntimeError: no luck"),
        (None, TERMINATE, "Parsing DISABLE failed. Invalid option: 'bogus' Available options: fma, magic_zero"),
        (None, "first\nlast\n\n", "last"),
        (None, "", None),
        (None, WARNING, "nothing but warnings on standard error"),
        (None, "Fatal Python error: Aborted\n" + WARNING, "Fatal Python error: Aborted"),
        (None, "[W1130 20:00:00.1 Context.cpp:80] Warning: TF32 is off\n", "nothing but warnings on standard error"),
        (None, "Warning: the disk is full\n", "Warning: the disk is full"),
        ("E: " + "x" * 5000, "", "E: " + "x" * 1497),
    ],
)
def test_one_line(error: str | None, stderr: str, said: str | None) -> None:
    assert complaint(error, stderr) == said

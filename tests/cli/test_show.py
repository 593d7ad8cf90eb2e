from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from segscope.dump import read
from segscope.model import Capture

from .test_render import JULY_2024, TWO_FUSIONS, segscope


def test_tables() -> None:
    done = segscope("show", JULY_2024)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    lines = done.stdout.decode().splitlines()
    assert lines[0].split() == "fusion groups kernel groups edges groups by scheduler".split()
    assert lines[1].split() == "0 11 6 18 6 pointwise, 5 no_op".split()
    assert "fusion 0: 11 groups (6 pointwise, 5 no_op), 6 kernel groups" in [line.rstrip() for line in lines]
    assert sum(line.startswith("#") for line in lines) == 11


def test_a_stream_of_ascii_and_a_name_that_is_no_utf8(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"odd\xff.txt")
    odd.write_bytes(JULY_2024.read_bytes())
    done = segscope("show", odd, "--json")
    assert Capture.model_validate_json(done.stdout).source.endswith("odd?.txt")
    command = [sys.executable, "-m", "segscope", "show", odd]
    plain = subprocess.run(command, capture_output=True, env=os.environ | {"PYTHONIOENCODING": "ascii"}, check=True)
    assert b"#7 pointwise \\xb7 reads 83.9 MB" in plain.stdout


def test_a_single_fusion_is_also_shown_as_a_tree() -> None:
    lines = segscope("show", JULY_2024).stdout.decode().splitlines()
    assert "├── #7 pointwise · reads 83.9 MB · writes 41.9 MB" in lines
    assert "│   ├── T14 = neg T13  [2, 40, 4096, 64]" in lines
    one = segscope("show", TWO_FUSIONS, "--fusion", "1").stdout.decode()
    assert one.count("├── g") + one.count("└── g") == 4
    assert "──" not in segscope("show", TWO_FUSIONS).stdout.decode()


def test_a_pipe_gets_plain_text() -> None:
    done = segscope("show", JULY_2024)
    assert b"\x1b" not in done.stdout
    assert max(map(len, done.stdout.decode().splitlines())) <= 80


def test_no_color_is_respected() -> None:
    coloured = segscope("show", JULY_2024, FORCE_COLOR="1", NO_COLOR="", TERM="xterm-256color")
    plain = segscope("show", JULY_2024, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")
    assert b"38;" in coloured.stdout
    assert b"38;" not in plain.stdout


def test_one_fusion() -> None:
    done = segscope("show", TWO_FUSIONS, "--fusion", "1")
    assert b"fusion 1:" in done.stdout
    assert b"fusion 0:" not in done.stdout


def test_json_is_the_capture(tmp_path: Path) -> None:
    done = segscope("show", TWO_FUSIONS, "--json")
    assert Capture.model_validate_json(done.stdout) == read(TWO_FUSIONS)
    again = segscope("show", "-", "--json", stdin=done.stdout)
    assert again.stdout == done.stdout


def test_json_of_one_fusion() -> None:
    done = segscope("show", TWO_FUSIONS, "--json", "--fusion", "1")
    assert [fusion["index"] for fusion in json.loads(done.stdout)["fusions"]] == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no-such-file"], "no-such-file: No such file or directory"),
        ([__file__], "no segmented fusion found"),
        ([JULY_2024, "--fusion", "7"], "no fusion 7; the only fusion is 0"),
        ([JULY_2024, "--fusion", "x"], "'x' is not a valid integer"),
        (["."], "Is a directory"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str | Path], message: str) -> None:
    done = segscope("show", *arguments)
    assert done.returncode == 2
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("segscope: error: ")
    assert message in line


def test_one_that_cannot_be_read_keeps_nobody_from_the_others() -> None:
    done = segscope("show", JULY_2024, "nowhere.txt", TWO_FUSIONS)
    assert done.returncode == 2
    assert done.stdout == segscope("show", JULY_2024, TWO_FUSIONS).stdout
    assert done.stderr == b"segscope: error: nowhere.txt: No such file or directory\n"


def test_a_cut_off_dump_is_shown_with_a_warning() -> None:
    text = JULY_2024.read_bytes()
    done = segscope("show", "-", stdin=text[: len(text) // 2])
    assert done.returncode == 0
    assert b"segscope: warning: -: incomplete" in done.stderr
    assert b"0 (incomplete)" in done.stdout


def test_unknown_operators_give_a_warning() -> None:
    text = JULY_2024.read_text().replace("= ceilDiv(", "= frobnicate(")
    done = segscope("show", "-", stdin=text.encode())
    assert done.returncode == 0
    assert b"segscope: warning: -: unknown operators, kept as text: frobnicate (" in done.stderr


def test_no_name_is_folded_where_there_is_no_terminal() -> None:
    names = [str(JULY_2024), str(TWO_FUSIONS)]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-m", "segscope", "show", *names], capture_output=True, text=True, env=environment, check=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == [names[0], names[1], names[1]]

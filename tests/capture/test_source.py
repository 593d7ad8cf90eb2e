"""What travels with a function, and what cannot."""

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from segscope.capture.source import source_of
from segscope.errors import SegscopeError
from tests.capture import helpers, programs


def defined(fn: Callable[..., Any], **modules: object) -> dict[str, Any]:
    """Define what ``source_of`` returns, where the imports of torch find ``modules``."""
    text = "\n".join(line for line in source_of(fn).splitlines() if not line.startswith(("import torch", "from torch")))
    scope: dict[str, Any] = dict(modules)
    exec(text, scope)
    return scope


def test_a_function_goes_with_what_it_uses() -> None:
    text = source_of(programs.rope)
    assert text.startswith("from __future__ import annotations\n")
    lines = text.splitlines()
    assert "SCALE = 0.5" in lines
    assert "import torch" in lines
    assert "import torch.nn.functional as F" in lines
    assert "turn = rotate" in lines
    assert lines.index("def rotate(x):") < lines.index("turn = rotate")
    assert "NOWHERE" not in text


def test_what_is_defined_works() -> None:
    scope = defined(programs.even)
    assert [scope["even"](number) for number in range(4)] == [True, False, True, False]
    assert defined(programs.with_modules)["with_modules"](0) == helpers.SCALE
    assert defined(programs.Block)["Block"].shifts == programs.SHIFTS


def test_torch_needs_no_import() -> None:
    assert "import torch" in source_of(programs.plain).splitlines()


def test_variables_of_the_enclosing_function_go_too() -> None:
    factor, names = 3, ["a", "b"]

    def times(x: int) -> object:
        return x * factor, names

    assert defined(times)["times"](2) == (6, ["a", "b"])


def test_a_class_goes_with_what_its_methods_use() -> None:
    factor = float("inf")

    class Local:
        @staticmethod
        def bound() -> float:
            return factor

        @property
        def twice(self) -> float:
            return 2 * factor

    scope = defined(Local)
    assert scope["Local"].bound() == scope["Local"]().twice == factor


def test_a_decorated_function_goes_with_its_decorator() -> None:
    assert "@logged" in source_of(decorated)
    assert defined(decorated)["decorated"](1) == 3


def logged(fn: Callable[[int], int]) -> Callable[[int], int]:
    @functools.wraps(fn)
    def wrapper(x: int) -> int:
        return fn(x) + 1

    return wrapper


@logged
def decorated(x: int) -> int:
    return x + 1


@pytest.mark.parametrize(
    ("fn", "says"),
    [
        (programs.uses_an_object, "uses_an_object uses NOWHERE, of type object, which cannot be written down"),
        (programs.uses_nothing_known, "uses_nothing_known uses undefined_name, which is not defined"),
        (lambda x: x, "a lambda cannot be captured: give it a name with def"),
        (len, "<built-in function len> is a builtin_function_or_method: give a function or a class"),
        (functools.partial(programs.plain, 1), "is a partial: give a function or a class"),
    ],
)
def test_what_cannot_travel_is_one_line(fn: Callable[..., Any], says: str) -> None:
    with pytest.raises(SegscopeError, match=says) as caught:
        source_of(fn)
    assert "\n" not in str(caught.value)


def test_two_things_of_one_name_are_refused() -> None:
    torch, rotate = 7, helpers.rotate

    def both(x: int) -> object:
        return rotate(x) * torch

    with pytest.raises(SegscopeError, match="uses two different things that are called torch: rename one"):
        source_of(both)


def test_a_function_without_a_file_is_refused() -> None:
    scope: dict[str, Any] = {}
    exec("def typed_in(x): return x", scope)
    with pytest.raises(SegscopeError, match=r'typed_in has no source: define it in a file, or give "file.py:typed_in"'):
        source_of(scope["typed_in"])


def test_a_value_that_compares_strangely_is_no_trouble() -> None:
    class Odd(SimpleNamespace):
        def __eq__(self, other: object) -> bool:
            raise RuntimeError("ambiguous")

    odd = Odd()

    def uses(x: int) -> object:
        return x, odd

    with pytest.raises(SegscopeError, match="uses odd, of type Odd, which cannot be written down"):
        source_of(uses)


def test_a_builtin_that_tells_no_module_is_imported_as_it_was(tmp_path: Path) -> None:
    """As ``torch.sin``."""
    (tmp_path / "torch.py").write_text("sin = {}.get\nassert sin.__module__ is None\n")
    script = tmp_path / "script.py"
    script.write_text(
        "from torch import sin\nfrom segscope.capture.source import source_of\n"
        "def f(x):\n    return sin(x)\nprint(source_of(f))\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "from torch import sin\n" in done.stdout


def test_a_text_at_the_margin_inside_a_nested_function() -> None:
    def said(x: int) -> str:
        return f"""{x}
at the margin"""

    assert defined(said)["said"](3) == "3\nat the margin"


def test_dtypes_and_infinities_inside_lists_tuples_and_dicts() -> None:
    kinds = type("dtype", (), {"__module__": "torch", "__str__": lambda self: "torch.float32"})
    value = {"kinds": (kinds(),), "ends": [float("inf"), 2], "plain": ("a", None)}

    def uses() -> object:
        return value

    assert "value = {'kinds': tuple([torch.float32]), 'ends': list([float('inf'), 2]), 'plain': ('a', None)}" in (
        source_of(uses).splitlines()
    )


def test_a_script_under_a_module_of_python_is_the_users(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from segscope.capture.source import source_of\ndef f(x):\n    return x\nprint(source_of(f))\n", "utf-8"
    )
    done = subprocess.run([sys.executable, "-m", "cProfile", script], capture_output=True, text=True, check=True)
    assert "def f(x):\n    return x\n" in done.stdout

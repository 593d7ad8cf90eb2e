"""A function or class as text that defines it in another process, with all that it uses."""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import math
import symtable
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Final

from segscope.errors import SegscopeError

_PROVIDED: Final = ("torch", "thunder")
"""Modules that need no import: every toolchain has them, and the process that asks often does not."""
_INSTALLED: Final = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_MISSING: Final = object()


def source_of(target: Callable[..., Any]) -> str:
    """Return a module's text that defines ``target``, a function or class, under its own name.

    With it go, as they are now, the functions and classes that it uses and that are not installed packages', constants
    (numbers, strings, dtypes, and lists, tuples and dicts of them), and imports, also those under ``TYPE_CHECKING``;
    ``torch`` and ``thunder`` need no import. Annotations are not evaluated.

    Raises SegscopeError where there is no source (a lambda, an interactive definition, C code), and for a name that
    stands for something that cannot travel, or for nothing.
    """
    text = _Text()
    text.define(inspect.unwrap(target))
    return "\n".join(["from __future__ import annotations", *text.parts])


class _Text:
    """Definitions, each behind what it uses when it is executed."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.named: dict[str, object] = {}

    def define(self, target: Any) -> None:
        """Add a function or class and what it uses."""
        source = _source(target)
        self._claim(target.__name__, target, target)
        cells, outer, lines = _cells(target), _globals(target), inspect.findsource(target)[0]
        for name in _names_from_outside(source):
            value = cells.get(name, outer.get(name, _MISSING))
            if value is _MISSING and hasattr(builtins, name):
                continue
            unnamed = isinstance(value, BuiltinFunctionType) and (value.__module__ is None or "." in value.__qualname__)
            if value is _MISSING or value is None or unnamed or isinstance(value, ModuleType):
                self._add_import(target, name, value, lines)
            else:
                self._add_value(target, name, value)
        self.parts.append(source)

    def _add_import(self, user: Any, name: str, value: Any, lines: list[str]) -> None:
        written = _imports("".join(lines), name)
        if isinstance(value, ModuleType):
            written = [line for line in written if line.startswith("import ")] or [f"import {value.__name__} as {name}"]
            if value.__file__ and not is_installed(Path(value.__file__)):
                written.append(f"# {value.__name__} {digest(Path(value.__file__).read_bytes())}")
        elif not written and value is None:
            written = [f"{name} = None"]
        elif not written and name in _PROVIDED:
            written = [f"import {name}"]
        elif not written:
            raise SegscopeError(f"{user.__name__} uses {name}, which is not defined: define it beside or import it")
        if self._claim(name, tuple(written), user):
            self.parts += written

    def _add_value(self, user: Any, name: str, value: Any) -> None:
        value = inspect.unwrap(value) if callable(value) else value
        if self.named.get(name) is value:
            return
        if isinstance(value, (FunctionType, type)) and comes_along(value):
            if self.named.get(value.__name__) is not value:
                self.define(value)
            if name != value.__name__ and self._claim(name, value, user):
                self.parts.append(f"{name} = {value.__name__}")
        elif isinstance(value, (FunctionType, BuiltinFunctionType, type)):
            written = f"from {value.__module__} import {value.__qualname__} as {name}"
            if self._claim(name, written, user):
                self.parts.append(written)
        elif literal := _literal(value):
            if "torch." in literal:
                self._add_import(user, "torch", None, ["import torch"])
            if self._claim(name, literal, user):
                self.parts.append(f"{name} = {literal}")
        else:
            raise SegscopeError(
                f"{user.__name__} uses {name}, of type {type(value).__name__}, which cannot be written down: "
                "make it inside, or pass it as an argument"
            )

    def _claim(self, name: str, meaning: object, user: Any) -> bool:
        """Take a name for a meaning; return whether it is new."""
        if name in self.named and self.named[name] != meaning:
            raise SegscopeError(f"{user.__name__} uses two different things that are called {name}: rename one")
        new = name not in self.named
        self.named[name] = meaning
        return new


def digest(data: bytes) -> str:
    """Return a short hash."""
    return hashlib.sha256(data).hexdigest()[:16]


def _source(target: Any) -> str:
    if not isinstance(target, (FunctionType, type)):
        raise SegscopeError(f"{target!r} is a {type(target).__name__}: give a function or a class")
    name = target.__name__
    if name == "<lambda>":
        raise SegscopeError("a lambda cannot be captured: give it a name with def")
    try:
        source = textwrap.dedent(inspect.getsource(target))
    except (OSError, TypeError):
        raise SegscopeError(f'{name} has no source: define it in a file, or give "file.py:{name}"') from None
    return f"if True:\n{source}" if source[:1].isspace() else source  # a text in it begins at the margin


def _cells(target: Any) -> dict[str, object]:
    """Return the variables of enclosing functions that a function, or a class's methods, use."""
    members = [getattr(member, "__func__", getattr(member, "fget", member)) for member in vars(target).values()]
    found: dict[str, object] = {}
    for function in (target, *members):
        if isinstance(function, FunctionType):
            for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
                with suppress(ValueError):  # a variable that has no value yet
                    found[name] = cell.cell_contents
    found.pop("__class__", None)
    return found


def _globals(target: Any) -> dict[str, object]:
    if isinstance(target, FunctionType):
        return target.__globals__
    return vars(sys.modules[target.__module__]) if target.__module__ in sys.modules else {}


def _names_from_outside(source: str) -> list[str]:
    """Return the names that a definition uses and does not bind, in a stable order."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    top = symtable.symtable(ast.unparse(tree), "definition", "exec")
    used = {s.get_name() for s in top.get_symbols() if s.is_referenced() and not s.is_assigned()}
    inner = {s.get_name() for table in _tables(top) for s in table.get_symbols() if s.is_global() and s.is_referenced()}
    bound = {s.get_name() for s in top.get_symbols() if s.is_assigned() or s.is_namespace()}
    return sorted((used | inner) - bound)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        yield child
        yield from _tables(child)


def _imports(module: str, name: str) -> list[str]:
    """Return the import statements of a module, outside functions, that bind a name: that name of each only."""
    found: list[str] = []
    waiting: list[ast.AST] = [ast.parse(module)]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0):
            for alias in node.names:
                bound = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
                if bound == name:
                    origin = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
                    found.append(f"{origin}import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            waiting += ast.iter_child_nodes(node)
    return found


def is_installed(path: Path) -> bool:
    """Say whether a file or folder is Python's own or a package's."""
    return any(folder in (path, *path.parents) for folder in _INSTALLED)


def comes_along(value: Any) -> bool:
    """Say whether a function or class must go with what uses it: it is not Python's own, nor a package's."""
    if value.__module__ == "__main__":  # whose file is a package's under python -m cProfile
        return True
    file = getattr(sys.modules.get(value.__module__), "__file__", None)
    return value.__module__ not in sys.builtin_module_names and not (file and is_installed(Path(file)))


def _literal(value: object) -> str | None:
    """Return a constant as Python text, or None for what is none."""
    if type(value).__module__ == "torch" and type(value).__name__ == "dtype":
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    with suppress(ValueError, SyntaxError, TypeError):
        if ast.literal_eval(repr(value)) == value:
            return repr(value)
    if type(value) is list or type(value) is tuple:
        inner = [_literal(each) for each in value]
        return None if None in inner else f"{type(value).__name__}([{', '.join(filter(None, inner))}])"
    if type(value) is dict:
        pairs = [(_literal(name), _literal(each)) for name, each in value.items()]
        return None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{a}: {b}' for a, b in pairs)}}}"
    return None

"""Capture a function or module of the user's: Thunder and nvFuser run it in a toolchain's child process."""

from __future__ import annotations

import base64
import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from segscope.capture.arguments import TensorSpec, as_json, specified
from segscope.capture.run import Request, run
from segscope.capture.source import comes_along, digest, is_installed, source_of
from segscope.capture.toolchain import CURRENT, default_name, require_thunder
from segscope.errors import SegscopeError
from segscope.model import Capture
from segscope.several import several

_WORKLOAD: Final = Path(__file__).parent / "workloads" / "function.py"
_NO_THUNDER: Final = "none"


def capture_function(
    fn: Callable[..., Any] | str,
    *args: object,
    toolchain: str | None = None,
    device: str = "auto",
    card: str = "h200",
    disable: str | Sequence[str] = (),
    enable: str | Sequence[str] = (),
    dump: str | Sequence[str] = (),
    grad: bool = False,
    init: Sequence[object] | Mapping[str, object] | None = None,
    jit: Mapping[str, object] | None = {},
    timeout: float = 600.0,
) -> Capture:
    """Run ``fn(*args)`` through Thunder and nvFuser, and return what nvFuser made of it.

    It runs in another process, as a rule of another Python, so ``fn`` travels as text, with what
    ``segscope.capture.source.source_of`` says. A file that defines modules cannot be imported where there is no torch:
    name it.

    Args:
        fn: a function or class; ``"file.py:name"`` or ``"package.module:name"``, imported over there, where this
            process's working directory and own folders of ``sys.path`` are searched; or, for ``toolchain="current"``,
            also a module that can be pickled and whose class can be imported there (not one of ``__main__``).
        args: tensors (of which shape, dtype, strides and ``requires_grad`` count), ``TensorSpec``, numbers, strings,
            None, dtypes, and lists, tuples and dicts of them. Tensors are on the GPU over there.
        toolchain: a name of ``segscope toolchain list``, or ``current``; the default toolchain if None. It is
            installed if it is not there yet, which takes minutes and gigabytes.
        device: ``cuda``, ``null``, or ``auto``: a GPU where there is one that the toolchain can use, else the null
            device.
        card: the card that the null device plays.
        disable: one option or several for ``NVFUSER_DISABLE``, such as ``resize_scheduler``.
        enable: options for ``NVFUSER_ENABLE``.
        dump: what to print besides the segmented fusion, such as ``segmenter_logging``.
        grad: run backward too, from the sum over all floating outputs. Gradients are asked for the arguments with
            ``requires_grad``, where none has it for all floating ones, and for a module's parameters, which without
            ``grad`` have none.
        init: arguments, a sequence or by name, with which ``fn`` is called first, to make what is run: a class's
            constructor (called without any where ``init`` is None), or a function that returns a module, set up as
            you like. Parameters are made on the GPU.
        jit: options of ``thunder.jit``, such as ``{"nv_enable_bookend": False}``; the executor is nvFuser alone where
            they do not name ``executors``. None calls ``fn`` without Thunder: it may define its own fusion.
        timeout: seconds after which the child process is ended.

    Raises:
        SegscopeError: ``fn`` or an argument cannot travel, a shape is given where no argument is a tensor, the
            toolchain or device cannot be had, or the child gave no dump. A child that ends badly after its dump still
            gives a capture.
    """
    return run(
        request(
            fn, *args, toolchain=toolchain, disable=disable, enable=enable, dump=dump, grad=grad, init=init, jit=jit
        ),
        toolchain=toolchain,
        device=device,
        card=card,
        timeout=timeout,
    )


def key(
    fn: Callable[..., Any] | str,
    *args: object,
    toolchain: str | None = None,
    device: str = "auto",
    card: str = "h200",
    **options: Any,
) -> str:
    """Return a digest of what defines the capture that `capture_function` would make of the same arguments.

    What a file or installed package imports is not in it.
    """
    asked = request(fn, *args, toolchain=toolchain, **options).key
    return hashlib.sha256(repr((asked, toolchain or default_name(), device, card)).encode()).hexdigest()


def request(
    fn: Callable[..., Any] | str,
    *args: object,
    toolchain: str | None = None,
    disable: str | Sequence[str] = (),
    enable: str | Sequence[str] = (),
    dump: str | Sequence[str] = (),
    grad: bool = False,
    init: Sequence[object] | Mapping[str, object] | None = None,
    jit: Mapping[str, object] | None = {},
) -> Request:
    """Return what `capture_function` runs; it is not run."""
    name, fact, target = _target(fn, toolchain or default_name())
    given = [specified(value, f"argument {number} of {name}") for number, value in enumerate(args, 1)]
    if jit is not None:
        require_thunder(toolchain or default_name())
        _refuse_shapes(given, name)
    made = None if init is None else specified(dict(init) if isinstance(init, Mapping) else list(init), "init")
    options = None if jit is None else specified(dict(jit), "jit")
    return Request(
        workload=name,
        file=_WORKLOAD,
        options={
            "function": name,
            "source": fact,
            "arguments": ", ".join(map(repr, given)),
            "init": None if made is None else repr(made),
            "jit": _NO_THUNDER if options is None else repr(options),
            "grad": grad,
        },
        disable=several(disable),
        enable=several(enable),
        dump=several(dump),
        carried={
            "target": target,
            "given": as_json(given),
            "made_with": as_json(made),
            "thunder": as_json(options),
            "folders": _folders(),
        },
    )


def _refuse_shapes(given: Sequence[object], name: str) -> None:
    """Raise SegscopeError where sizes are given and no tensor: the sizes of one are meant, as a rule."""
    if any(map(_holds_a_tensor, given)):
        return
    for number, value in enumerate(given, 1):
        if isinstance(value, (list, tuple)) and value and all(type(size) is int for size in value):
            raise SegscopeError(
                f"argument {number} of {name}: {value} is no tensor, and no other argument is: for one of that shape, "
                f"give segscope.TensorSpec({tuple(value)})"
            )


def _holds_a_tensor(value: object) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return isinstance(value, TensorSpec) or any(map(_holds_a_tensor, inner))


def _target(fn: object, toolchain: str) -> tuple[str, str, dict[str, str]]:
    """Return the name, a digest of the text, and how the child gets hold of a function, class or module."""
    if isinstance(fn, str):
        return _named(fn)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(fn, torch.nn.Module):
        return _pickled(fn, toolchain)
    if not inspect.isfunction(fn) and not inspect.isclass(fn):
        raise SegscopeError(
            f"a {type(fn).__name__} cannot be captured: give a function, a class, or "
            '"file.py:name" (wrap a method or a partial in a function)'
        )
    if not comes_along(fn):
        return _named(f"{fn.__module__}:{fn.__qualname__}")
    text = source_of(fn)
    return fn.__name__, digest(text.encode()), {"text": text, "name": fn.__name__}


def _named(reference: str) -> tuple[str, str, dict[str, str]]:
    place, _, name = reference.rpartition(":")
    if not place or not name:
        raise SegscopeError(f'{reference!r}: must be "file.py:name" or "package.module:name"')
    if not place.endswith(".py"):
        return reference, _digest_of_module(place), {"module": place, "name": name}
    file = Path(place).absolute()
    if not file.is_file():
        raise SegscopeError(f"{place}: no such file")
    return f"{file.name}:{name}", digest(file.read_bytes()), {"file": str(file), "name": name}


def _digest_of_module(name: str) -> str:
    """Return a digest of a module's file, where it is not one that only the toolchain has."""
    path = Path(*name.split("."))
    files = (Path(folder) / file for folder in _folders() for file in (path.with_suffix(".py"), path / "__init__.py"))
    return next((digest(file.read_bytes()) for file in files if file.is_file()), "")


def _pickled(module: Any, toolchain: str) -> tuple[str, str, dict[str, str]]:
    name = type(module).__name__
    if toolchain != CURRENT:
        raise SegscopeError(
            f"a module made here cannot travel to {toolchain}: give its class with init=(...), "
            f'"file.py:{name}", or toolchain="{CURRENT}"'
        )
    try:
        data = pickle.dumps(module)
    except Exception as error:
        raise SegscopeError(f"this {name} cannot be pickled: {' '.join(str(error).split())}") from None
    return name, digest(data), {"pickle": base64.b64encode(data).decode(), "name": name}


def _folders() -> list[str]:
    """Return where this process looks for modules of the user's own: not Python's folders, nor those of packages."""
    folders = [Path(folder).absolute() for folder in ("", *sys.path)]
    return list(dict.fromkeys(str(folder) for folder in folders if folder.is_dir() and not is_installed(folder)))

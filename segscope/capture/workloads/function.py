"""A function or module of the user's, through Thunder and nvFuser.

Runs inside a toolchain (see worker.py). Options, as ``segscope/capture/function.py`` gives them: ``target`` (where it
comes from: ``text``, ``file``, ``module`` or ``pickle``, and its ``name``), ``given`` (arguments), ``made_with``
(arguments of its maker, or null), ``thunder`` (options of ``thunder.jit``, or null), ``grad``, ``folders``.
"""

import base64
import importlib
import importlib.util
import linecache
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

PROGRAM = "captured_function"


def subject(options: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Return what is to be called, and its arguments."""
    sys.path += options["folders"]
    target = load(options["target"])
    grad = options["grad"]
    if options["made_with"] is not None or isinstance(target, type):
        made_with = argument(options["made_with"] or {"list": []})
        with torch.device("cuda"):
            target = target(**made_with) if isinstance(made_with, dict) else target(*made_with)
    if isinstance(target, torch.nn.Module):
        target.to("cuda")
        if not grad:
            target.requires_grad_(False)
    arguments = argument(options["given"])
    tensors = [leaf for leaf in tree_leaves(arguments) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]
    if grad and not any(tensor.requires_grad for tensor in tensors):
        for tensor in tensors:
            tensor.requires_grad_()
    return target, arguments


def phases(options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the forward pass and, with ``grad``, the backward pass of the sum over all floating outputs."""
    target, arguments = subject(options)
    run = target
    if options["thunder"] is not None:
        import thunder
        from thunder.executors.nvfuserex import nvfuserex

        run = thunder.jit(target, **{"executors": [nvfuserex], **argument(options["thunder"])})
    results: list[Any] = []
    yield "forward", lambda: results.append(run(*arguments))
    if options["grad"]:
        yield "backward", lambda: backward(results)


def backward(results: Any) -> None:
    """Ask for the gradients of the sum over all floating outputs."""
    outputs = [leaf for leaf in tree_leaves(results) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not outputs:
        raise ValueError("no output depends on a tensor that requires a gradient")
    sum(output.sum() for output in outputs).backward()


def load(target: dict[str, str]) -> Any:
    """Return the function, class or module that the options name."""
    name = target["name"]
    if "pickle" in target:
        return pickle.loads(base64.b64decode(target["pickle"]))
    try:
        found = defining(target)
    except ModuleNotFoundError as error:
        if target.get("module", "").startswith(str(error.name)):
            raise
        why = "what defines the function is imported where torch, nvFuser and Thunder are, and little else"
        raise ModuleNotFoundError(f"{error}: {why}; keep it in a file of its own") from error
    for part in name.split("."):
        found = getattr(found, part)
    return found


def defining(target: dict[str, str]) -> Any:
    """Return the module that defines what the options name."""
    if "text" in target:
        return program(target["text"])
    if "file" in target:
        return from_file(Path(target["file"]))
    return importlib.import_module(target["module"])


def program(text: str) -> ModuleType:
    """Return a module of the text, with lines for tracebacks."""
    module = sys.modules[PROGRAM] = ModuleType(PROGRAM)
    linecache.cache[f"<{PROGRAM}>"] = (len(text), None, text.splitlines(keepends=True), f"<{PROGRAM}>")
    exec(compile(text, f"<{PROGRAM}>", "exec"), vars(module))
    return module


def from_file(path: Path) -> ModuleType:
    """Return a file as a module, which finds others beside it as a script does."""
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def argument(given: Any) -> Any:
    """Return an argument from its JSON; see ``segscope/capture/arguments.py``."""
    if not isinstance(given, dict):
        return given
    ((kind, value),) = given.items()
    if kind == "tensor":
        return tensor(**value)
    if kind == "dtype":
        return getattr(torch, value)
    if kind == "dict":
        return {name: argument(item) for name, item in value.items()}
    items = [argument(item) for item in value]
    return tuple(items) if kind == "tuple" else items


def tensor(shape: list[int], dtype: str, stride: list[int] | None, requires_grad: bool) -> torch.Tensor:
    """Return a tensor whose values are not defined, or zero where they might be indices."""
    kind = getattr(torch, dtype)
    make = torch.empty if kind.is_floating_point or kind.is_complex else torch.zeros
    if stride is None:
        made = make(shape, dtype=kind, device="cuda")
    else:
        size = 1 + sum((extent - 1) * step for extent, step in zip(shape, stride, strict=True)) if all(shape) else 0
        made = make(size, dtype=kind, device="cuda").as_strided(shape, stride)
    return made.requires_grad_(requires_grad)

"""Compiles the null device into segscope's wheel, where the machine that builds it has a C compiler."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_HERE = Path("segscope/capture/null_device")


class NullDeviceHook(BuildHookInterface[Any]):
    """Adds the compiled null device, and makes the wheel one for x86-64 Linux; without a compiler it stays pure."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the null device, and tell hatchling where it goes."""
        if version == "editable":
            return
        build = self._build_module()
        self._folder = tempfile.TemporaryDirectory(prefix="segscope-wheel-")
        folder = Path(self._folder.name)
        try:
            build.compile_into(folder, build.c_compiler())
        except build.DeviceError as error:
            self.app.display_warning(f"the wheel will compile the null device on first use: {error}")
            return
        build_data["force_include"][str(folder)] = str(_HERE / build.PREBUILT.name)
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was compiled, which is in the wheel now."""
        if version != "editable":
            self._folder.cleanup()

    def _build_module(self) -> Any:
        """Load build.py by its path: the package around it needs more than a build environment has."""
        sys.path.insert(0, self.root)
        spec = importlib.util.spec_from_file_location("null_device_build", Path(self.root) / _HERE / "build.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

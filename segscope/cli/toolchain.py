"""``segscope toolchain``: install, list and remove toolchains."""

import click

from segscope.capture import toolchain
from segscope.capture.toolchain.install import disk_usage
from segscope.capture.toolchain.spec import load
from segscope.errors import ToolchainError

_HEADER = ("NAME", "STATE", "PYTHON", "TORCH", "NVFUSER", "THUNDER", "DISK")


@click.group()
def command() -> None:
    """Install, list and remove toolchains: one Python with one torch, nvFuser and Thunder each."""


@command.command("list")
def list_() -> None:
    """List the toolchains, and what is in them."""
    rows = [_HEADER, *(_row(name) for name in toolchain.names())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    click.echo(f"\n{toolchain.CURRENT} is the Python that runs segscope; the others are kept in {toolchain.root()}")


@command.command()
@click.argument("names", metavar="[NAME]...", nargs=-1)
def install(names: tuple[str, ...]) -> None:
    """Install toolchains; without a NAME, the default one."""
    chosen = names or (toolchain.default_name(),)
    states = {name: toolchain.state(name) for name in chosen}
    if toolchain.CURRENT in states:
        raise ToolchainError(
            f"toolchain {toolchain.CURRENT} is the Python that runs segscope: install torch and nvFuser there yourself"
        )
    for name, state in states.items():
        found = toolchain.ensure(name)
        if state == "installed":
            click.echo(f"{name} is already installed: {found.python}")


@command.command()
@click.argument("name")
def path(name: str) -> None:
    """Print the path of a toolchain's interpreter."""
    click.echo(toolchain.find(name).python)


@command.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove an installed toolchain."""
    toolchain.remove(name)
    click.echo(f"removed {name}")


def _row(name: str) -> tuple[str, ...]:
    state = toolchain.state(name)
    if name == toolchain.CURRENT:
        return (name, state, *_versions_here(), "-")
    spec = load().get(name)
    title = f"{name} (default)" if name == toolchain.default_name() else name
    versions = (
        spec.python,
        spec.version("torch"),
        spec.version("nvfuser"),
        spec.version("lightning-thunder"),
    )
    folder = toolchain.root() / name
    size = f"{disk_usage(folder) / 1e9:.1f} GB" if state != "not installed" else f"({spec.size_gb} GB)"
    return (title, state, *versions, size)


def _versions_here() -> tuple[str, str, str, str]:
    import platform
    from importlib import metadata

    installed = {str(found.name).lower(): found.version for found in metadata.distributions()}
    nvfuser = next((version for name, version in installed.items() if name.startswith("nvfuser")), "-")
    return (
        platform.python_version(),
        installed.get("torch", "-"),
        nvfuser,
        installed.get("lightning-thunder", "-"),
    )

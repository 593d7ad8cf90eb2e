"""Programs as nvFuser's FusionDefinitions, without Thunder: every version is given the same operations.

Runs inside a toolchain (see worker.py). Options: ``definition``, a name of ``CASES``, or ``rope`` or ``rope-float32``
with the options of rope.py.
"""

from collections.abc import Callable, Iterator
from typing import Any

from .cases import CASES
from .definition import Definition
from .rope import rope


def phases(options: dict[str, Any]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield one phase, in which the program is defined and executed."""
    definition = Definition()

    def run() -> None:
        with definition.fusion:
            if options["definition"] in CASES:
                CASES[options["definition"]](definition)
            else:
                rope(definition, options)
        definition.fusion.execute(definition.arguments)

    yield "definition", run

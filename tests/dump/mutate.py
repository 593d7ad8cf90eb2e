"""Text as crashes, editors and other programs leave it."""

from collections.abc import Sequence

from hypothesis import strategies as st


def mutated(data: st.DataObject, text: str, noise: Sequence[str], most: int) -> str:
    """Return ``text`` with up to ``most`` lines or runs of lines dropped, doubled, cut, swapped, or of ``noise``."""
    lines = text.split("\n")
    for _ in range(data.draw(st.integers(1, most))):
        at = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["drop", "double", "cut", "swap", "noise"]))
        if what == "drop":
            del lines[at : at + data.draw(st.integers(1, 50))]
        elif what == "double":
            lines[at:at] = lines[at : at + data.draw(st.integers(1, 20))]
        elif what == "cut":
            lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
        elif what == "swap":
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines.insert(at, data.draw(st.sampled_from(noise)))
        lines = lines or [""]
    return "\n".join(lines)

from __future__ import annotations

import pytest

from segscope.model import SegmentedFusion


def test_a_fusion_shows_itself_as_text_and_svg(engine: str, july_2024: SegmentedFusion) -> None:
    bundle = july_2024._repr_mimebundle_()
    assert bundle["text/plain"] == str(july_2024)
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "#10 · pointwise · kernel" in bundle["image/svg+xml"].replace("&#183;", "·")


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_there_is_text(july_2024: SegmentedFusion) -> None:
    assert july_2024._repr_mimebundle_() == {"text/plain": str(july_2024)}

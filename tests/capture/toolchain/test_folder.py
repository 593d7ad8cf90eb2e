import os
from pathlib import Path

from segscope.capture.toolchain.folder import disk_use


def test_holes_take_no_room(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(b"x" * 1_000_000)
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(50_000_000)
    use = disk_use(tmp_path)
    assert 1_000_000 <= use.own == use.total < 2_000_000


def test_what_is_linked_elsewhere_is_not_its_own(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    (second / "deep").mkdir(parents=True)
    (first / "shared").write_bytes(b"x" * 2_000_000)
    os.link(first / "shared", second / "deep" / "shared")
    (second / "alone").write_bytes(b"x" * 1_000_000)
    use = disk_use(second)
    assert use.total >= 3_000_000
    assert 1_000_000 <= use.own < 2_000_000

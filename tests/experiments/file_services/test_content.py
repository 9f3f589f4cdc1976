"""Documents and trees are the same for one seed, whole, and told apart by their digest."""

from __future__ import annotations

from pathlib import Path

from pentathlon.experiments.file_services import content


def test_one_seed_gives_one_document(tmp_path: Path) -> None:
    first, same, other = (
        content.document(tmp_path / name, 5000, seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first.total == 5000 and first.digest == same.digest != other.digest


def test_a_profile_has_its_files_and_its_bytes(tmp_path: Path) -> None:
    held = content.profile(tmp_path, 1_000_000, 48, 3)
    assert len(held.names) == 48 and held.total == 1_000_000
    assert sorted(content.found(tmp_path)) == list(held.names)
    sizes = sorted((tmp_path / name).stat().st_size for name in held.names)
    # Two of them are large, and hold most of it.
    assert sum(sizes[-2:]) >= 0.69 * held.total
    assert held.digest == content.profile(tmp_path / "again", 1_000_000, 48, 3).digest


def test_one_changed_byte_changes_the_digest(tmp_path: Path) -> None:
    held = content.profile(tmp_path, 10_000, 4, 3)
    file = tmp_path / held.names[-1]
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert content.digest(tmp_path, held.names) != held.digest

"""The machine to try boots on: what its script changes on a disk, without a start of it."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "rebooting-guest"
ESP_AT = 1 << 20
"""Where the EFI system partition begins on the disk, in bytes."""
DEFAULT = "::/EFI/BOOT/BOOTX64.EFI"

pytestmark = pytest.mark.system


@pytest.fixture
def guest(tmp_path: Path) -> Path:
    if any(shutil.which(one) is None for one in ("mkfs.vfat", "mcopy", "mmd")):
        pytest.skip("dosfstools and mtools are not installed")
    esp = tmp_path / "esp.img"
    esp.write_bytes(b"\0" * (4 << 20))
    subprocess.run(["mkfs.vfat", "-n", "ESP", esp], check=True, capture_output=True)
    for one in ("EFI", "EFI/BOOT", "EFI/debian", "EFI/systemd"):
        subprocess.run(["mmd", "-i", esp, f"::/{one}"], check=True)
    for path, text in (("debian/grubx64.efi", "GRUB"), ("systemd/systemd-bootx64.efi", "systemd")):
        file = tmp_path / text
        file.write_text(text)
        subprocess.run(["mcopy", "-i", esp, file, f"::/EFI/{path}"], check=True)
    directory = tmp_path / "guest"
    directory.mkdir()
    (directory / "disk.img").write_bytes(b"\0" * ESP_AT + esp.read_bytes())
    return directory


def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)


def test_the_firmwares_default_is_changed_and_changed_back(guest: Path) -> None:
    for name, text in (("systemd-boot", "systemd"), ("grub", "GRUB")):
        done = call("loader", name, guest)
        assert (done.returncode, done.stdout) == (0, f"the firmware starts {name}\n"), done.stderr
        image = f"{guest / 'disk.img'}@@{ESP_AT}"
        read = subprocess.run(["mtype", "-i", image, DEFAULT], check=True, capture_output=True)
        assert read.stdout.decode() == text
        assert (guest / "loader").read_text() == f"{name}\n"


def test_another_loader_is_one_sentence(guest: Path) -> None:
    done = call("loader", "lilo", guest)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "rebooting-guest: the loader is grub or systemd-boot\n"

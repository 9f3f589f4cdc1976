"""When the kernel frees deleted files, and what that does to process.create_delete.

Batches of files are made and removed on a memory file system; beside the time of each stands by how
many the kernel's inodes grew meanwhile (`shmem_inode_cache` of /proc/slabinfo). A deleted inode is
freed later, with others (RCU), in whose batch ever that falls. Needs root on Linux.

    python benches/deleted_files.py
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

FILES, BATCHES = 2000, 150
SLABS = Path("/proc/slabinfo")


def inodes() -> int:
    for line in SLABS.read_text().splitlines():
        if line.startswith("shmem_inode_cache "):
            return int(line.split()[1])
    raise RuntimeError(f"{SLABS} tells of no shmem_inode_cache: SLUB and tmpfs are needed")


def batch() -> tuple[float, int]:
    """Nanoseconds of one file, and by how many inodes the kernel has more after the batch."""
    made = Path("made")
    before, start = inodes(), time.perf_counter()
    for _ in range(FILES):
        os.close(os.open(made, os.O_RDWR | os.O_CREAT, 0o644))
        made.unlink()
    took = time.perf_counter() - start
    return took / FILES * 1e9, inodes() - before


def main() -> int:
    """Prints a row for each kind of batch."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.chdir(folder)
        try:
            found = [batch() for _ in range(BATCHES)]
        except (OSError, RuntimeError) as error:
            print(f"deleted_files: {error}", file=sys.stderr)
            return 1
        finally:
            os.chdir("/")
    kinds = {
        "none freed": [ns for ns, grown in found if grown >= 0.95 * FILES],
        "some freed": [ns for ns, grown in found if 0 <= grown < 0.95 * FILES],
        "more freed than made": [ns for ns, grown in found if grown < 0],
    }
    print("| inodes meanwhile | batches | least, ns a file | median | greatest |")
    print("|---|---|---|---|---|")
    for name, times in kinds.items():
        if times:
            figures = (min(times), statistics.median(times), max(times))
            print(f"| {name} | {len(times)} | " + " | ".join(f"{ns:.0f}" for ns in figures) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Graphics beside glmark2, both by OpenGL: triangles with a light at each corner, and texels.

Every row is `one / two` of rates. glmark2 needs a display, ours and the counterparts
(`counterparts/polygons.c`, `counterparts/texels.c`) need none; all of them draw into a picture that
is never shown. What is missing (glmark2, cc with libegl-dev and libgl-dev) is named and left out.
Exit status: 0 compared, 1 no peer was found or a run failed.

    apt-get install glmark2-x11 xvfb xauth libegl-dev libgl-dev
    xvfb-run -a python benches/graphics_peers.py
"""

from __future__ import annotations

import argparse
import array
import math
import os
import re
import struct
import sys
import tempfile
from functools import partial
from pathlib import Path

import turns
from turns import Measure, Ratio

from pentathlon.protocol import agent

Vector = tuple[float, float, float]
Corner = tuple[Vector, Vector]
"""Place and normal."""

TRIANGLES = 60_000
"""Of graphics.polygons at scale 1."""
HORSE = Path("/usr/share/glmark2/models/horse.3ds")
TAPS = 9
"""Texels that the kernel of glmark2's effect2d reads for a pixel."""
SIZES = ((64, 64), (640, 512))
LIBRARIES = ("-lEGL", "-lGL", "-lm")


def minus(a: Vector, b: Vector) -> Vector:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def unit(a: Vector) -> Vector:
    length = math.sqrt(dot(a, a)) or 1.0
    return (a[0] / length, a[1] / length, a[2] / length)


def knot() -> tuple[list[Corner], list[int]]:
    """The mesh of graphics.polygons: a tube along a knot of two turns and five loops."""
    rows = round(math.sqrt(TRIANGLES / 2 / 8))
    columns = round(math.sqrt(TRIANGLES / 2 / 8) * 8)

    def centre(u: float) -> Vector:
        angle = u * math.tau
        radius = 1 + 0.42 * math.cos(5 * angle)
        across = radius * math.cos(2 * angle), radius * math.sin(2 * angle)
        return (*across, 0.55 * math.sin(5 * angle))

    corners = []
    for row in range(rows + 1):
        sin, cos = math.sin(row / rows * math.tau), math.cos(row / rows * math.tau)
        for column in range(columns + 1):
            u = column / columns
            ahead = unit(minus(centre(u + 1e-3), centre(u - 1e-3)))
            side = unit(cross(ahead, (0.21, 0.31, 0.93)))
            up = cross(side, ahead)
            normal = tuple(side[i] * cos + up[i] * sin for i in range(3))
            place = tuple(centre(u)[i] + 0.26 * normal[i] for i in range(3))
            corners.append((place, normal))
    indices = []
    for row in range(rows):
        for column in range(columns):
            a = row * (columns + 1) + column
            b, c = a + 1, a + columns + 1
            indices += [a, b, c, c, b, c + 1]
    return corners, indices  # type: ignore[return-value]


def horse() -> list[Corner]:
    """Every three corners of a triangle of glmark2's model (3D Studio's chunks)."""
    data = HORSE.read_bytes()
    corners: list[Corner] = []

    def chunks(start: int, end: int) -> None:
        places: list[Vector] = []
        while start + 6 <= end:
            kind, length = struct.unpack_from("<HI", data, start)
            inside = start + 6
            if kind == 0x4000:  # an object, after its name
                inside = data.index(b"\0", inside) + 1
            if kind in (0x4D4D, 0x3D3D, 0x4000, 0x4100):
                chunks(inside, start + length)
            elif kind == 0x4110:
                (count,) = struct.unpack_from("<H", data, inside)
                places = list(struct.iter_unpack("<3f", data[inside + 2 : inside + 2 + 12 * count]))
            elif kind == 0x4120:
                (count,) = struct.unpack_from("<H", data, inside)
                faces = struct.iter_unpack("<4H", data[inside + 2 : inside + 2 + 8 * count])
                for a, b, c, _ in faces:
                    p, q, r = places[a], places[b], places[c]
                    normal = unit(cross(minus(q, p), minus(r, p)))
                    corners.extend((place, normal) for place in (p, q, r))
            start += length

    chunks(0, len(data))
    return corners


def view(eye: Vector, to: Vector, far: float, high: float, aspect: float) -> list[float]:
    """The matrix of the view by columns, `high` radians high, and the place of the eye."""
    ahead = unit(minus(to, eye))
    right = unit(cross(ahead, (0.0, 1.0, 0.0)))
    up = cross(right, ahead)
    scale, near = 1 / math.tan(high / 2), far / 1000
    rows = [
        [*(scale / aspect * part for part in right), -scale / aspect * dot(right, eye)],
        [*(scale * part for part in up), -scale * dot(up, eye)],
    ]
    deep, shift = (far + near) / (far - near), -2 * far * near / (far - near)
    rows.append([*(deep * part for part in ahead), -deep * dot(ahead, eye) + shift])
    rows.append([*ahead, -dot(ahead, eye)])
    return [rows[row][column] for column in range(4) for row in range(4)] + list(eye)


def write(file: Path, corners: list[Corner], indices: list[int], seen: list[float]) -> Path:
    flat = [part for place, normal in corners for part in (*place, *normal)]
    with file.open("wb") as out:
        out.write(struct.pack("<II", len(corners), len(indices)))
        array.array("f", seen + flat).tofile(out)
        array.array("I", indices).tofile(out)
    return file


def horse_file(file: Path, size: tuple[int, int]) -> Path:
    """The horse as glmark2 shows it: a ball around it fills the picture's height."""
    corners = horse()
    bounds = [(min(axis), max(axis)) for axis in zip(*(c[0] for c in corners), strict=True)]
    x, y, z = ((low + high) / 2 for low, high in bounds)
    radius = math.dist(*zip(*bounds, strict=True)) / 2
    high = 2 * math.atan(radius / (2 + radius))
    eye = (x, y, z + 2 + radius)
    return write(file, corners, [], view(eye, (x, y, z), 50, high, size[0] / size[1]))


def knot_file(file: Path) -> Path:
    corners, indices = knot()
    x, y, z = unit((0.25, 0.35, 1.0))
    seen = view((3.4 * x, 3.4 * y, 3.4 * z), (0, 0, 0), 50, math.radians(45), 1.25)
    return write(file, corners, indices, seen)


def ours(
    program: Path, workload: str, size: tuple[int, int], parameters: dict[str, list[str]]
) -> float:
    """The best rate, in millions a second."""
    requested = {"api": "gl", "width": size[0], "height": size[1]} | parameters
    found = turns.samples(program, workload, requested, tries=5, sample_ms=300)
    return max(float(event["value"]) for event in found if event["metric"] == "rate")


def counterpart(program: str, files: list[Path], size: tuple[int, int], *peer: str) -> float:
    requested = [*map(str, files), *map(str, size)]
    return float(turns.output([program, *requested, "2", *peer]))


def glmark2(scene: str, size: tuple[int, int], each: float) -> float:
    """Frames a second of glmark2 times what each frame has, in millions a second."""
    command = [str(turns.find("glmark2")), "--off-screen", "--frame-end", "finish"]
    text = turns.output([*command, "-s", f"{size[0]}x{size[1]}", "-b", f"{scene}:duration=2"])
    found = re.search(r"FPS: (\d+)", text)
    if found is None:
        raise RuntimeError(f"glmark2 said: {text.strip()!r}")
    return int(found[1]) * each / 1e6


def sides(directory: Path) -> dict[str, Measure]:
    program = agent.locate()
    compiled = turns.built("polygons.c", directory / "polygons", *LIBRARIES)
    filling = turns.built("texels.c", directory / "texels", *LIBRARIES)
    peer = turns.find("glmark2") is not None and bool(os.environ.get("DISPLAY"))
    if not peer:
        print("left out: glmark2 (Debian: glmark2-x11), or a display for it (xvfb-run)")
    one = {"lights": ["one"]}
    made: dict[str, Measure] = {}
    for size in SIZES:
        name = f"{size[0]}x{size[1]}"
        made[f"ours, {name}"] = partial(ours, program, "graphics.polygons", size, one)
        if compiled:
            mesh = knot_file(directory / "knot")
            made[f"counterpart, {name}"] = partial(counterpart, compiled, [mesh], size)
        if peer and compiled:
            mesh = horse_file(directory / f"horse {name}", size)
            made[f"counterpart of the horse, {name}"] = partial(
                counterpart, compiled, [mesh], size, "peer"
            )
        if peer:
            triangles = len(horse()) / 3
            scene = "build:use-vbo=true:model=horse"
            made[f"glmark2 build, {name}"] = partial(glmark2, scene, size, triangles)
    size = SIZES[-1]
    made["ours, texels"] = partial(ours, program, "graphics.fill", size, {"texturing": ["multi"]})
    if filling:
        made["counterpart, texels"] = partial(counterpart, filling, [], size)
    if peer:
        scene = "effect2d:kernel=1,1,1;1,1,1;1,1,1;"
        made["glmark2 effect2d"] = partial(glmark2, scene, size, size[0] * size[1] * TAPS)
        if filling:
            made["counterpart of effect2d"] = partial(counterpart, filling, [], size, "peer")
    return made


def rows() -> list[Ratio]:
    parts = []
    for width, height in SIZES:
        name = f"{width}x{height}"
        what = f"Mtriangles/s, {name}"
        parts += [
            Ratio(
                what, f"ours, {name}", f"counterpart, {name}", "the same mesh, light and batches"
            ),
            Ratio(
                what,
                f"ours, {name}",
                f"glmark2 build, {name}",
                "ours shares corners by indices; the peer sends three a triangle and waits for "
                "each frame",
            ),
            Ratio(
                what,
                f"counterpart of the horse, {name}",
                f"glmark2 build, {name}",
                "the peer's model, view, light and corners, culled, frame by frame",
            ),
        ]
    what = "Mtexels/s, 640x512"
    parts += [
        Ratio(what, "ours, texels", "counterpart, texels", "the same textures, layers and batches"),
        Ratio(
            what,
            "ours, texels",
            "glmark2 effect2d",
            "ours: eight textures, interpolated and blended; peer: nine texels of one, neither",
        ),
        Ratio(
            what,
            "counterpart of effect2d",
            "glmark2 effect2d",
            "the peer's shader and buffers, frame by frame",
        ),
    ]
    return parts


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        try:
            figures = turns.measured(sides(Path(directory)), options.rounds)
        except (RuntimeError, agent.AgentError) as error:
            print(error, file=sys.stderr)
            return 1
    turns.heading(" [1e6/s]")
    turns.tell(figures, rows())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

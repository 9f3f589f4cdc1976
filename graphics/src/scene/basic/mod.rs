//! One feature at a time: texels, triangles, shaders (3DMark06 feature tests, PCMark05 3D tests).

mod fill;
mod mesh;
mod shaded;

use super::Entry;

pub const FILL: Entry = Entry {
    id: "graphics.fill",
    title: "Fill rate",
    summary:
        "Layers of one texture or of eight textures at once are blended over the whole canvas.",
    source: "martinovic2012 §4.1, §4.2, Tab. 7, Tab. 14",
    factor: ("texturing", &["single", "multi"]),
    metric: "Texels read and blended",
    unit: "Mtexels/s",
    millions: true,
    make: fill::make,
};

pub const POLYGONS: Entry = Entry {
    id: "graphics.polygons",
    title: "Polygon throughput",
    summary: "A knot of many small triangles, lit at every corner by one or by eight lights.",
    source: "martinovic2012 §4.1, Tab. 7, Tab. 14 (PCMark05 multiple lights)",
    factor: ("lights", &["one", "eight"]),
    metric: "Triangles drawn",
    unit: "Mtriangles/s",
    millions: true,
    make: mesh::polygons,
};

pub const VERTEX_SHADER: Entry = Entry {
    id: "graphics.vertex_shader",
    title: "Vertex shader",
    summary: "Many corners on few pixels: moved and lit (simple), or bent by four bones and waves \
              of noise before (complex).",
    source: "martinovic2012 §4.2, Tab. 7 (3DMark06 vertex shader simple and complex)",
    factor: ("shader", &["simple", "complex"]),
    metric: "Corners shaded",
    unit: "Mvertices/s",
    millions: true,
    make: mesh::vertices,
};

pub const PIXEL_SHADER: Entry = Entry {
    id: "graphics.pixel_shader",
    title: "Pixel shader",
    summary: "Every pixel of the canvas computes a rough lit rock face with its highlights.",
    source: "martinovic2012 §4.1, §4.2, Tab. 7, Tab. 14",
    factor: ("shader", &["rock"]),
    metric: "Frames drawn",
    unit: "frames/s",
    millions: false,
    make: shaded::pixel_shader,
};

pub const NOISE: Entry = Entry {
    id: "graphics.noise",
    title: "Perlin noise",
    summary: "Every pixel adds octaves of three-dimensional gradient noise, computed and not read.",
    source: "martinovic2012 §4.2, Tab. 7 (3DMark06 Perlin noise); Perlin 2002",
    factor: ("shader", &["clouds"]),
    metric: "Frames drawn",
    unit: "frames/s",
    millions: false,
    make: shaded::noise,
};

//! What stands where: the four places.

use crate::scene::Order;
use crate::shape::{self, Mesh, Random, Vertex};
use glam::{Vec2, Vec3, Vec4};

pub struct Place {
    /// Shapes, and for each copy where and how large it is (w), and its colour with its shine (w).
    pub parts: Vec<(Mesh, Vec<[Vec4; 2]>)>,
    pub from: Vec3,
    pub to: Vec3,
    pub light: Vec3,
    pub light_color: Vec3,
    pub sky: Vec3,
    pub fog: Vec3,
    pub thickness: f32,
    pub high: bool,
    /// Height of the water, or far below where there is none.
    pub water: f32,
}

const DRY: f32 = -9.0;

pub fn place(name: &str, order: Order) -> Place {
    match name {
        "hall" => hall(order),
        "forest" => forest(order),
        "canyon" => canyon(order),
        _ => ice(order),
    }
}

fn at(x: f32, y: f32, z: f32, size: f32, color: [f32; 3], shine: f32) -> [Vec4; 2] {
    [
        Vec4::new(x, y, z, size),
        Vec4::new(color[0], color[1], color[2], shine),
    ]
}

fn flat(side: u32, height: f32) -> Mesh {
    shape::surface(side, side, |u, v| {
        Vec3::new(u * 2.0 - 1.0, height, 1.0 - v * 2.0)
    })
}

/// A cube with grooves, whose faces are grids.
fn block(triangles: f64) -> Mesh {
    let (columns, rows) = shape::grid(triangles / 6.0, 1.0);
    let mut mesh = Mesh::default();
    for (along, across) in [
        (Vec3::X, Vec3::Y),
        (Vec3::Y, Vec3::Z),
        (Vec3::Z, Vec3::X),
        (Vec3::NEG_X, Vec3::Y),
        (Vec3::NEG_Y, Vec3::Z),
        (Vec3::NEG_Z, Vec3::X),
    ] {
        let out = along.cross(across);
        let face = shape::surface(columns, rows, |u, v| {
            let (a, b) = (u * 2.0 - 1.0, v * 2.0 - 1.0);
            let groove = 0.06 * ((b * 9.0).cos() * 8.0).clamp(-1.0, 0.0);
            out * (1.0 + groove) + along * a + across * b
        });
        mesh.add(&face, Vec3::ZERO, Vec3::ONE);
    }
    mesh
}

/// A hall of columns with machines in the middle.
fn hall(order: Order) -> Place {
    let column = shape::turned(2_000.0 * order.scale, 11, 16.0);
    let mut columns = Vec::new();
    for step in 0..6 {
        for side in [-0.9, 0.9] {
            columns.push(at(
                side,
                0.18,
                0.9 - 0.4 * step as f32,
                0.24,
                [0.62, 0.6, 0.58],
                12.0,
            ));
        }
    }
    let machines = vec![
        at(-0.25, -0.02, 0.0, 0.28, [0.8, 0.35, 0.15], 48.0),
        at(0.35, -0.05, -0.4, 0.22, [0.2, 0.45, 0.75], 48.0),
        at(0.2, 0.0, 0.45, 0.16, [0.75, 0.7, 0.2], 48.0),
    ];
    Place {
        parts: vec![
            (
                flat(24, -0.2),
                vec![at(0.0, 0.0, 0.0, 1.4, [0.35, 0.37, 0.4], 60.0)],
            ),
            (column, columns),
            (shape::knot(6_000.0 * order.scale, 2.0, 3.0, 0.25), machines),
            (
                block(600.0 * order.scale),
                vec![at(0.0, -0.12, -1.3, 0.35, [0.5, 0.3, 0.25], 8.0)],
            ),
        ],
        from: Vec3::new(0.55, 0.5, 1.75),
        to: Vec3::new(-0.05, 0.0, -0.1),
        light: Vec3::new(0.5, 1.0, 0.45),
        light_color: Vec3::new(1.0, 0.95, 0.85),
        sky: Vec3::new(0.12, 0.13, 0.17),
        fog: Vec3::new(0.1, 0.11, 0.15),
        thickness: 0.18,
        high: false,
        water: DRY,
    }
}

/// Trees on hills, with fireflies that glow.
fn forest(order: Order) -> Place {
    let ground = shape::hills(8_000.0 * order.scale, order.seed, 0.1);
    let mut random = Random::new(order.seed ^ 77);
    let (mut trunks, mut crowns, mut flies) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..70 {
        let place = Vec2::new(random.unit() * 2.6 - 1.3, random.unit() * 2.6 - 1.5);
        let size = 0.1 + 0.08 * random.unit();
        let green = 0.25 + 0.3 * random.unit();
        trunks.push(at(
            place.x,
            0.08,
            place.y,
            size * 0.5,
            [0.35, 0.24, 0.16],
            4.0,
        ));
        crowns.push(at(
            place.x,
            0.08 + size * 1.6,
            place.y,
            size,
            [0.12, green, 0.1],
            4.0,
        ));
    }
    for _ in 0..40 {
        let (x, z) = (random.unit() * 2.0 - 1.0, random.unit() * 2.0 - 1.0);
        flies.push(at(
            x,
            0.1 + 0.35 * random.unit(),
            z,
            0.008,
            [4.0, 3.6, 1.2],
            4.0,
        ));
    }
    let crown = shape::surface(16, (12.0 * order.scale.sqrt()) as u32 + 4, |u, v| {
        let (sin, cos) = (u * std::f32::consts::TAU).sin_cos();
        let wide = (1.0 - v) * (0.75 + 0.25 * (v * 22.0).sin().abs());
        Vec3::new(wide * cos, v * 2.0 - 1.0, -wide * sin)
    });
    Place {
        parts: vec![
            (ground, vec![at(0.0, 0.0, 0.0, 1.5, [0.22, 0.3, 0.14], 4.0)]),
            (shape::turned(300.0 * order.scale, 3, 7.0), trunks),
            (crown, crowns),
            (shape::sphere(48.0), flies),
        ],
        from: Vec3::new(0.2, 0.45, 1.6),
        to: Vec3::new(0.0, 0.12, 0.0),
        light: Vec3::new(-0.6, 0.9, 0.3),
        light_color: Vec3::new(0.75, 0.85, 1.1),
        sky: Vec3::new(0.1, 0.16, 0.3),
        fog: Vec3::new(0.12, 0.18, 0.3),
        thickness: 0.45,
        high: false,
        water: DRY,
    }
}

/// Rocks around a lake under a low sun.
fn canyon(order: Order) -> Place {
    let walls = {
        let ground = shape::hills(24_000.0 * order.scale, order.seed ^ 5, 0.22);
        let lift = |vertex: &Vertex| {
            let away = vertex.position.x.abs();
            let wall = ((away - 0.28) / 0.25).clamp(0.0, 1.0);
            wall * wall * (3.0 - 2.0 * wall) * 0.55
        };
        let mut mesh = ground;
        for vertex in &mut mesh.vertices {
            vertex.position.y = vertex.position.y * 0.6 + lift(vertex) - 0.16;
        }
        // Normals by the slopes of the new heights: of the two ways along each square.
        renew_normals(&mut mesh);
        mesh
    };
    Place {
        parts: vec![
            (walls, vec![at(0.0, 0.0, 0.0, 1.5, [0.72, 0.42, 0.26], 6.0)]),
            (
                flat(40, 0.0),
                vec![at(0.0, -0.12, 0.0, 1.5, [0.05, 0.16, 0.2], 160.0)],
            ),
            (
                shape::shell(3_000.0 * order.scale),
                vec![at(0.02, 0.28, 0.2, 0.14, [0.85, 0.85, 0.9], 90.0)],
            ),
        ],
        from: Vec3::new(0.1, 0.42, 1.6),
        to: Vec3::new(-0.02, 0.15, 0.0),
        light: Vec3::new(0.35, 0.5, -0.75),
        light_color: Vec3::new(4.2, 3.3, 2.2),
        sky: Vec3::new(0.55, 0.7, 1.0),
        fog: Vec3::new(0.85, 0.7, 0.55),
        thickness: 0.25,
        high: true,
        water: -0.12,
    }
}

fn renew_normals(mesh: &mut Mesh) {
    let mut sums = vec![Vec3::ZERO; mesh.vertices.len()];
    for triangle in mesh.indices.chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|corner| mesh.vertices[triangle[corner] as usize].position);
        let area = (b - a).cross(c - a);
        for corner in triangle {
            sums[*corner as usize] += area;
        }
    }
    for (vertex, sum) in mesh.vertices.iter_mut().zip(sums) {
        vertex.normal = sum.normalize_or(Vec3::Y);
    }
}

/// A station in the snow, with bright windows and crystals.
fn ice(order: Order) -> Place {
    let mut random = Random::new(order.seed ^ 99);
    let mut crystals = Vec::new();
    for _ in 0..60 {
        let (x, z) = (random.unit() * 2.4 - 1.2, random.unit() * 2.2 - 1.4);
        if x.abs() > 0.35 || z.abs() > 0.35 {
            crystals.push(at(
                x,
                0.05,
                z,
                0.05 + 0.12 * random.unit(),
                [0.55, 0.75, 0.95],
                120.0,
            ));
        }
    }
    let crystal = shape::surface(6, (8.0 * order.scale.sqrt()) as u32 + 2, |u, v| {
        let (sin, cos) = (u * std::f32::consts::TAU).sin_cos();
        let wide = 0.5 * (1.0 - (v * 2.0 - 0.6).abs() / 1.4);
        Vec3::new(wide * cos, v * 2.0 - 0.5, -wide * sin)
    });
    let lamps = vec![
        at(-0.16, 0.12, 0.3, 0.03, [14.0, 9.0, 4.0], 4.0),
        at(0.16, 0.12, 0.3, 0.03, [14.0, 9.0, 4.0], 4.0),
        at(0.0, 0.42, 0.05, 0.025, [18.0, 3.0, 2.0], 4.0),
    ];
    Place {
        parts: vec![
            (
                shape::hills(16_000.0 * order.scale, order.seed ^ 9, 0.09),
                vec![at(0.0, -0.04, 0.0, 1.5, [0.85, 0.9, 0.98], 20.0)],
            ),
            (crystal, crystals),
            (
                block(2_400.0 * order.scale),
                vec![
                    at(0.0, 0.08, 0.0, 0.26, [0.4, 0.42, 0.48], 30.0),
                    at(-0.45, 0.05, -0.2, 0.14, [0.4, 0.42, 0.48], 30.0),
                    at(0.5, 0.05, -0.3, 0.16, [0.4, 0.42, 0.48], 30.0),
                ],
            ),
            (shape::sphere(400.0 * order.scale), lamps),
        ],
        from: Vec3::new(-0.7, 0.5, 1.45),
        to: Vec3::new(0.0, 0.12, 0.0),
        light: Vec3::new(0.7, 0.6, 0.35),
        light_color: Vec3::new(1.6, 1.9, 2.6),
        sky: Vec3::new(0.12, 0.2, 0.4),
        fog: Vec3::new(0.35, 0.45, 0.65),
        thickness: 0.3,
        high: true,
        water: DRY,
    }
}

//! One game: agents that look for ways, balls that roll about and stand in those ways, and the
//! picture of it all, frame after frame.

use super::super::checksum::of_words;
use super::bodies::Bodies;
use super::paths::{Finder, Grid};
use super::raster::{triangle, Band, Camera, Triangle};
use super::terrain::Terrain;
use super::vector::{add, scale, Vector};
use pentathlon_harness::Random;

/// How large a game is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub squares: usize,
    pub agents: usize,
    pub balls: usize,
    pub width: usize,
    pub height: usize,
}

#[derive(Debug, Clone)]
struct Agent {
    square: u32,
    goal: u32,
    /// Sum of the costs of all the ways it found.
    travelled: u64,
}

/// The state of a game.
#[derive(Clone)]
pub struct Scene {
    size: Size,
    terrain: Terrain,
    ground: Vec<u8>,
    agents: Vec<Agent>,
    bodies: Bodies,
    goals: Random,
    frame: u64,
    pixels: Vec<u32>,
    nearness: Vec<f32>,
}

impl Scene {
    pub fn new(size: Size, seed: u64) -> Self {
        let terrain = Terrain::new(size.squares, seed);
        let ground = ground(&terrain);
        let mut goals = Random::new(seed ^ 0x676f_616c);
        let agents = (0..size.agents)
            .map(|_| Agent {
                square: free(&ground, &mut goals),
                goal: free(&ground, &mut goals),
                travelled: 0,
            })
            .collect();
        Self {
            size,
            ground,
            agents,
            bodies: Bodies::new(size.balls, &terrain, seed ^ 0x6261_6c6c),
            terrain,
            goals,
            frame: 0,
            pixels: vec![0; size.width * size.height],
            nearness: vec![0.0; size.width * size.height],
        }
    }

    /// One frame in so many threads, which share out agents and rows; physics is one thread's.
    pub fn frame(&mut self, threads: usize) {
        self.walk(threads);
        for _ in 0..4 {
            self.bodies.step(Some(&self.terrain), 1.0 / 120.0);
        }
        self.render(threads);
        self.frame += 1;
    }

    /// Every agent looks for its way around the balls anew, and goes one step.
    fn walk(&mut self, threads: usize) {
        let mut costs = self.ground.clone();
        for ball in &self.bodies.balls {
            let (x, y) = (ball.place[0] as usize, ball.place[1] as usize);
            let last = self.size.squares - 1;
            costs[y.min(last) * self.size.squares + x.min(last)] = 0;
        }
        let grid = Grid {
            size: self.size.squares,
            costs,
        };
        let share = self.agents.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let mut groups = self.agents.chunks_mut(share);
            let first = groups.next();
            for group in groups {
                scope.spawn(|| walk_all(group, &grid));
            }
            if let Some(group) = first {
                walk_all(group, &grid);
            }
        });
        for agent in &mut self.agents {
            if agent.square == agent.goal {
                agent.goal = free(&self.ground, &mut self.goals);
            }
        }
    }

    fn render(&mut self, threads: usize) {
        let camera = self.camera();
        let triangles = self.triangles(&camera);
        let width = self.size.width;
        let rows = self.size.height.div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let pixels = self.pixels.chunks_mut(rows * width);
            let bands = pixels.zip(self.nearness.chunks_mut(rows * width));
            let mut bands = bands.enumerate().map(|(index, (pixels, nearness))| Band {
                first_row: index * rows,
                width,
                pixels,
                nearness,
            });
            let paint = |mut band: Band| {
                band.clear(0x0064_96c8);
                triangles.iter().for_each(|triangle| band.draw(triangle));
            };
            let first = bands.next();
            for band in bands {
                scope.spawn(move || paint(band));
            }
            if let Some(band) = first {
                paint(band);
            }
        });
    }

    /// The eye circles above the rim. Half-angle tangents turn it without sines.
    fn camera(&self) -> Camera {
        let middle = self.size.squares as f64 / 2.0;
        let t = (self.frame % 100) as f64 / 50.0 - 1.0;
        let (cosine, sine) = ((1.0 - t * t) / (1.0 + t * t), 2.0 * t / (1.0 + t * t));
        let eye = [
            middle + 0.9 * middle * cosine,
            middle + 0.9 * middle * sine,
            0.5 * middle + 6.0,
        ];
        Camera::new(
            eye,
            [middle, middle, 0.0],
            self.size.width,
            self.size.height,
        )
    }

    fn triangles(&self, camera: &Camera) -> Vec<Triangle> {
        let mut triangles = Vec::new();
        let mut put = |points, colour| triangles.extend(triangle(camera, points, colour));
        for y in 0..self.size.squares {
            for x in 0..self.size.squares {
                let corner = |dx: usize, dy: usize| {
                    let (x, y) = (x + dx, y + dy);
                    [x as f64, y as f64, self.terrain.corner(x, y)]
                };
                let steep = 20 * self.ground[y * self.size.squares + x].min(8);
                let colour = [70 + steep, 140 - steep / 2, 60];
                put([corner(0, 0), corner(1, 0), corner(1, 1)], colour);
                put([corner(0, 0), corner(1, 1), corner(0, 1)], colour);
            }
        }
        for agent in &self.agents {
            let (x, y) = self.middle_of(agent.square);
            let feet = [x, y, self.terrain.at(x, y).0 + 0.6];
            solid(&mut put, feet, 0.6, 1, [220, 60, 40]);
        }
        for ball in &self.bodies.balls {
            solid(&mut put, ball.place, ball.radius, 4, [210, 200, 190]);
        }
        triangles
    }

    fn middle_of(&self, square: u32) -> (f64, f64) {
        let size = self.size.squares as u32;
        (
            f64::from(square % size) + 0.5,
            f64::from(square / size) + 0.5,
        )
    }

    /// Everything the game is made of now.
    pub fn checksum(&self) -> u64 {
        let agents = self
            .agents
            .iter()
            .flat_map(|agent| [u64::from(agent.square), agent.travelled]);
        let balls = self.bodies.balls.iter().flat_map(|ball| {
            let numbers = ball.place.into_iter().chain(ball.speed).chain(ball.spin);
            numbers.map(f64::to_bits)
        });
        let pixels = self.pixels.iter().map(|&pixel| u64::from(pixel));
        of_words(agents.chain(balls).chain(pixels).chain([self.frame]))
    }

    /// Why this cannot be the end of a sound game, if it cannot.
    pub fn fault(&self) -> Option<String> {
        if !self.bodies.energy().is_finite() {
            return Some("the balls' energy is not a number".into());
        }
        if self.agents.iter().all(|agent| agent.travelled == 0) && !self.agents.is_empty() {
            return Some("no agent found a way".into());
        }
        let sky = self
            .pixels
            .iter()
            .filter(|&&pixel| pixel == 0x0064_96c8)
            .count();
        (sky == self.pixels.len()).then(|| "the picture is empty".into())
    }
}

fn walk_all(agents: &mut [Agent], grid: &Grid) {
    let mut finder = Finder::default();
    for agent in agents {
        if let Some((cost, way)) = finder.find(grid, agent.square, agent.goal) {
            agent.travelled += u64::from(cost);
            agent.square = way.first().copied().unwrap_or(agent.square);
        }
    }
}

/// Steep ground costs more, and the steepest cannot be walked.
fn ground(terrain: &Terrain) -> Vec<u8> {
    let mut costs = Vec::with_capacity(terrain.size * terrain.size);
    for y in 0..terrain.size {
        for x in 0..terrain.size {
            let (_, normal) = terrain.at(x as f64 + 0.5, y as f64 + 0.5);
            let slope = (normal[0] * normal[0] + normal[1] * normal[1]).sqrt();
            costs.push(if slope > 0.9 {
                0
            } else {
                1 + (slope * 8.0) as u8
            });
        }
    }
    costs
}

fn free(ground: &[u8], random: &mut Random) -> u32 {
    loop {
        let square = random.below(ground.len());
        if ground[square] > 0 {
            return square as u32;
        }
    }
}

/// An octahedron, each face cut into `parts`² pieces that are pulled out to the sphere.
fn solid(
    put: &mut impl FnMut([Vector; 3], [u8; 3]),
    centre: Vector,
    radius: f64,
    parts: i32,
    colour: [u8; 3],
) {
    for face in 0..8 {
        let sign = |bit: i32| if face >> bit & 1 == 0 { 1.0 } else { -1.0 };
        let signs = [sign(0), sign(1), sign(2)];
        let outwards = signs[0] * signs[1] * signs[2] > 0.0;
        let corner = |i: i32, j: i32| {
            let shares = [f64::from(i), f64::from(j), f64::from(parts - i - j)];
            let point = [0, 1, 2].map(|axis| signs[axis] * shares[axis]);
            let pull = radius / super::vector::length(point);
            add(centre, scale(point, pull))
        };
        let mut face = |a: Vector, b: Vector, c: Vector| {
            put(if outwards { [a, b, c] } else { [a, c, b] }, colour);
        };
        for i in 0..parts {
            for j in 0..parts - i {
                face(corner(i + 1, j), corner(i, j + 1), corner(i, j));
                if i + j + 1 < parts {
                    face(corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Size = Size {
        squares: 24,
        agents: 7,
        balls: 12,
        width: 96,
        height: 64,
    };

    #[test]
    fn the_game_is_the_same_again_and_with_any_number_of_threads() {
        let play = |threads| {
            let mut scene = Scene::new(SMALL, 5);
            for _ in 0..6 {
                scene.frame(threads);
            }
            assert_eq!(scene.fault(), None);
            scene.checksum()
        };
        let one = play(1);
        for threads in [1, 2, 3, 5, 64] {
            assert_eq!(play(threads), one, "{threads} threads");
        }
    }

    #[test]
    fn every_part_of_the_game_reaches_the_checksum() {
        let mut scene = Scene::new(SMALL, 5);
        scene.frame(1);
        let sum = scene.checksum();
        for change in [
            |scene: &mut Scene| scene.agents[0].square ^= 1,
            |scene: &mut Scene| scene.bodies.balls[3].spin[1] += 1e-12,
            |scene: &mut Scene| scene.pixels[77] ^= 1,
        ] {
            let mut other = scene.clone();
            change(&mut other);
            assert_ne!(other.checksum(), sum);
        }
    }

    #[test]
    fn agents_reach_their_goals_in_time() {
        let mut scene = Scene::new(Size { balls: 0, ..SMALL }, 5);
        let first: Vec<_> = scene.agents.iter().map(|agent| agent.goal).collect();
        for _ in 0..120 {
            scene.walk(1);
        }
        let arrived = scene
            .agents
            .iter()
            .zip(first)
            .filter(|(a, goal)| a.goal != *goal);
        assert!(arrived.count() > SMALL.agents / 2);
    }

    #[test]
    fn a_solid_faces_outwards_everywhere() {
        let mut faces = 0;
        let centre = [1.0, 2.0, 3.0];
        let mut put = |[a, b, c]: [Vector; 3], _| {
            use super::super::vector::{cross, dot, subtract};
            let normal = cross(subtract(b, a), subtract(c, a));
            assert!(dot(normal, subtract(a, centre)) > 0.0);
            faces += 1;
        };
        solid(&mut put, centre, 2.0, 4, [0; 3]);
        assert_eq!(faces, 8 * 16);
    }
}

//! Rigid balls that fall, roll, spin and collide: contacts solved by sequential impulses with
//! friction (E. Catto, Game Developers Conference 2006), in a fixed order.

use super::terrain::Terrain;
use super::vector::{add, cross, dot, length, scale, subtract, Vector};
use pentathlon_harness::Random;

const GRAVITY: f64 = -9.81;
const FRICTION: f64 = 0.5;
const BOUNCE: f64 = 0.3;
/// Speed of approach below which a contact does not bounce.
const RESTING: f64 = 0.5;
/// Share of an overlap that is pushed apart in each step.
const CORRECTION: f64 = 0.2;
/// Fastest that an overlap is pushed apart, in m/s: a deep one must not become a shot.
const LARGEST_CORRECTION: f64 = 1.0;
const ROUNDS: usize = 8;

#[derive(Debug, Clone, PartialEq)]
pub struct Ball {
    pub place: Vector,
    pub speed: Vector,
    pub spin: Vector,
    pub radius: f64,
    pub mass: f64,
}

impl Ball {
    /// Moment of inertia of a solid ball.
    fn inertia(&self) -> f64 {
        0.4 * self.mass * self.radius * self.radius
    }

    fn energy(&self) -> f64 {
        0.5 * self.mass * dot(self.speed, self.speed)
            + 0.5 * self.inertia() * dot(self.spin, self.spin)
            - self.mass * GRAVITY * self.place[2]
    }

    /// Speed of the surface at `arm` from the centre.
    fn surface(&self, arm: Vector) -> Vector {
        add(self.speed, cross(self.spin, arm))
    }

    fn push(&mut self, impulse: Vector, arm: Vector) {
        self.speed = add(self.speed, scale(impulse, 1.0 / self.mass));
        self.spin = add(self.spin, scale(cross(arm, impulse), 1.0 / self.inertia()));
    }
}

/// Two balls that touch, or one and the ground.
struct Contact {
    a: usize,
    b: Option<usize>,
    /// Towards `a`.
    normal: Vector,
    depth: f64,
    bounce: f64,
    /// Impulse along the normal so far, which may only push.
    pushed: f64,
}

#[derive(Debug, Clone)]
pub struct Bodies {
    pub balls: Vec<Ball>,
}

impl Bodies {
    /// Balls of several sizes in the air over the terrain.
    pub fn new(count: usize, terrain: &Terrain, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let size = terrain.size as f64;
        let balls = (0..count)
            .map(|_| {
                let radius = 0.4 + 0.8 * random.unit();
                let (x, y) = (size * random.unit(), size * random.unit());
                let up = 2.0 + 10.0 * random.unit();
                Ball {
                    place: [x, y, terrain.at(x, y).0 + up],
                    speed: [random.unit() * 6.0 - 3.0, random.unit() * 6.0 - 3.0, 0.0],
                    spin: [0.0; 3],
                    radius,
                    mass: radius * radius * radius,
                }
            })
            .collect();
        Self { balls }
    }

    /// Energy of motion, spin and height.
    pub fn energy(&self) -> f64 {
        self.balls.iter().map(Ball::energy).sum()
    }

    /// One step of `dt` seconds; returns the number of contacts.
    pub fn step(&mut self, terrain: Option<&Terrain>, dt: f64) -> usize {
        for ball in &mut self.balls {
            ball.speed[2] += GRAVITY * dt;
        }
        let mut contacts = self.contacts(terrain);
        for _ in 0..ROUNDS {
            for contact in &mut contacts {
                self.resolve(contact, dt);
            }
        }
        let limit = terrain.map(|terrain| terrain.size as f64);
        for ball in &mut self.balls {
            ball.place = add(ball.place, scale(ball.speed, dt));
            // The terrain's rim is a wall.
            for axis in 0..2 {
                if let Some(limit) = limit {
                    let inside = ball.place[axis].clamp(0.0, limit);
                    if inside != ball.place[axis] {
                        ball.place[axis] = inside;
                        ball.speed[axis] *= -BOUNCE;
                    }
                }
            }
        }
        contacts.len()
    }

    /// Pairs that overlap, found by sweeping along one axis, and balls on the ground.
    fn contacts(&self, terrain: Option<&Terrain>) -> Vec<Contact> {
        let mut contacts = Vec::new();
        let mut order: Vec<usize> = (0..self.balls.len()).collect();
        let left = |i: usize| self.balls[i].place[0] - self.balls[i].radius;
        order.sort_by(|&a, &b| left(a).total_cmp(&left(b)).then(a.cmp(&b)));
        for (at, &a) in order.iter().enumerate() {
            let one = &self.balls[a];
            for &b in &order[at + 1..] {
                let other = &self.balls[b];
                if left(b) > one.place[0] + one.radius {
                    break;
                }
                let apart = subtract(one.place, other.place);
                let reach = one.radius + other.radius;
                let squared = dot(apart, apart);
                if squared < reach * reach && squared > 0.0 {
                    let distance = squared.sqrt();
                    let normal = scale(apart, 1.0 / distance);
                    contacts.push(self.contact(a, Some(b), normal, reach - distance));
                }
            }
            if let Some(terrain) = terrain {
                let (height, up) = terrain.at(one.place[0], one.place[1]);
                let normal = scale(up, 1.0 / length(up));
                let depth = one.radius - (one.place[2] - height) * normal[2];
                if depth > 0.0 {
                    contacts.push(self.contact(a, None, normal, depth));
                }
            }
        }
        contacts
    }

    fn contact(&self, a: usize, b: Option<usize>, normal: Vector, depth: f64) -> Contact {
        let mut contact = Contact {
            a,
            b,
            normal,
            depth,
            bounce: 0.0,
            pushed: 0.0,
        };
        let approach = -dot(self.relative(&contact), normal);
        if approach > RESTING {
            contact.bounce = BOUNCE * approach;
        }
        contact
    }

    fn arms(&self, contact: &Contact) -> (Vector, Vector) {
        let to_b = contact.b.map_or(0.0, |b| self.balls[b].radius);
        (
            scale(contact.normal, -self.balls[contact.a].radius),
            scale(contact.normal, to_b),
        )
    }

    /// Speed of `a`'s surface against `b`'s at the contact.
    fn relative(&self, contact: &Contact) -> Vector {
        let (arm_a, arm_b) = self.arms(contact);
        let of_a = self.balls[contact.a].surface(arm_a);
        match contact.b {
            Some(b) => subtract(of_a, self.balls[b].surface(arm_b)),
            None => of_a,
        }
    }

    fn resolve(&mut self, contact: &mut Contact, dt: f64) {
        let (a, b) = (contact.a, contact.b);
        let inverse = 1.0 / self.balls[a].mass + b.map_or(0.0, |b| 1.0 / self.balls[b].mass);
        let apart = dot(self.relative(contact), contact.normal);
        let correction = CORRECTION * (contact.depth - 0.01).max(0.0) / dt;
        let separate = contact.bounce.max(correction.min(LARGEST_CORRECTION));
        let before = contact.pushed;
        contact.pushed = (before + (separate - apart) / inverse).max(0.0);
        self.push(contact, scale(contact.normal, contact.pushed - before));
        // Friction stops sliding as far as the push allows. The surfaces of balls give way by
        // turning too: a solid ball's give adds 1/(0.4·m).
        let sliding = self.relative(contact);
        let sliding = subtract(sliding, scale(contact.normal, dot(sliding, contact.normal)));
        let speed = length(sliding);
        if speed > 1e-9 {
            let give = 3.5 * inverse;
            let impulse = (speed / give).min(FRICTION * (contact.pushed - before).max(0.0));
            self.push(contact, scale(sliding, -impulse / speed));
        }
    }

    fn push(&mut self, contact: &Contact, impulse: Vector) {
        let (arm_a, arm_b) = self.arms(contact);
        self.balls[contact.a].push(impulse, arm_a);
        if let Some(b) = contact.b {
            self.balls[b].push(scale(impulse, -1.0), arm_b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(place: Vector, speed: Vector) -> Ball {
        Ball {
            place,
            speed,
            spin: [0.0; 3],
            radius: 1.0,
            mass: 2.0,
        }
    }

    #[test]
    fn a_collision_keeps_momentum_and_spin_and_loses_energy() {
        let mut bodies = Bodies {
            balls: vec![
                ball([0.0, 0.0, 0.0], [3.0, 0.2, 0.0]),
                ball([1.9, 0.6, 0.0], [-1.0, 0.0, 0.5]),
            ],
        };
        let sum = |bodies: &Bodies| {
            bodies
                .balls
                .iter()
                .fold(([0.0; 3], [0.0; 3]), |(p, l), ball| {
                    let momentum = scale(ball.speed, ball.mass);
                    let turning = add(
                        cross(ball.place, momentum),
                        scale(ball.spin, ball.inertia()),
                    );
                    (add(p, momentum), add(l, turning))
                })
        };
        // Without gravity's own share: the step adds it to both alike.
        let (p, l) = sum(&bodies);
        let before: f64 = bodies.balls.iter().map(|b| dot(b.speed, b.speed)).sum();
        let mut contacts = bodies.contacts(None);
        assert_eq!(contacts.len(), 1);
        for contact in &mut contacts {
            contact.depth = 0.0;
            bodies.resolve(contact, 0.01);
        }
        let (q, m) = sum(&bodies);
        for i in 0..3 {
            assert!((p[i] - q[i]).abs() < 1e-12, "momentum");
            // The balls overlap, so their arms end 0.01 apart.
            assert!((l[i] - m[i]).abs() < 0.2, "{l:?} {m:?}");
        }
        let after: f64 = bodies.balls.iter().map(|b| dot(b.speed, b.speed)).sum();
        assert!(after < before);
        assert!(bodies.balls.iter().any(|b| b.spin != [0.0; 3]));
    }

    #[test]
    fn a_falling_ball_follows_the_parabola() {
        let mut bodies = Bodies {
            balls: vec![ball([0.0, 0.0, 100.0], [1.0, 0.0, 0.0])],
        };
        for _ in 0..1000 {
            bodies.step(None, 0.001);
        }
        let place = bodies.balls[0].place;
        assert!((place[0] - 1.0).abs() < 1e-9);
        assert!((place[2] - (100.0 - 0.5 * 9.81)).abs() < 0.01);
    }

    #[test]
    fn balls_come_to_rest_on_the_ground_without_gaining_energy() {
        let terrain = Terrain::new(16, 3);
        let mut bodies = Bodies::new(40, &terrain, 4);
        let mut last = bodies.energy();
        let mut touched = 0;
        for _ in 0..300 {
            for _ in 0..4 {
                touched += bodies.step(Some(&terrain), 1.0 / 240.0);
            }
            let energy = bodies.energy();
            // Pushing overlaps apart may lift a little.
            assert!(energy < last + 0.05 * last.abs(), "{energy} after {last}");
            last = energy;
        }
        assert!(touched > 1000);
        for ball in &bodies.balls {
            let height = terrain.at(ball.place[0], ball.place[1]).0;
            assert!(ball.place[2] - height > 0.2 * ball.radius, "{ball:?} sank");
            assert!(length(ball.speed) < 10.0);
        }
    }
}

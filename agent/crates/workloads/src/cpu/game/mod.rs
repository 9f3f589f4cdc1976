//! `cpu.game`: the processor's part of a computer game, as in the CPU tests of 3DMark06.

mod bodies;
mod paths;
mod raster;
mod scene;
mod terrain;
mod vector;

use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use scene::{Scene, Size};

/// The two tests: much path finding, and much physics.
const TESTS: [(&str, Size); 2] = [
    (
        "cpu1",
        Size {
            squares: 128,
            agents: 87,
            balls: 150,
            width: 640,
            height: 480,
        },
    ),
    (
        "cpu2",
        Size {
            squares: 128,
            agents: 29,
            balls: 600,
            width: 640,
            height: 480,
        },
    ),
];

pub struct Game;

impl super::Workload for Game {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.game",
            title: "Game",
            summary: "Agents look for ways over hills (A*), balls roll and collide (rigid-body \
                      physics), and every frame is drawn in software at 640x480. The same game \
                      whatever the number of threads.",
            source: "martinovic2012 §4.2, Tab. 5 (3DMark06 CPU tests)",
            parameters: vec![
                Parameter::texts("test", &["cpu1", "cpu2"])
                    .choices(&TESTS.map(|(name, _)| name))
                    .described("cpu1 has 87 agents and 150 balls, cpu2 29 agents and 600 balls"),
                Parameter::integers("threads", &[1, 2])
                    .limits(1.0, 256.0)
                    .described("threads that share out agents and rows"),
                Parameter::integer("frames", 10)
                    .limits(1.0, 10_000.0)
                    .described("frames of one game, always from the same start"),
            ],
            factors: vec![
                Factor::category("test", "test"),
                Factor::new("threads", "threads", None, "log2"),
            ],
            metrics: vec![Metric::higher("rate", "Frame rate", "frames/s")],
            checksum: "FNV-1a of agents, balls and pixels after the last frame",
            semantics: Semantics::alike(
                "with more than one thread, threads are started and joined twice a frame",
            ),
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        let frames = parameters.integer("frames");
        for name in parameters.texts("test") {
            let (name, size) = TESTS
                .into_iter()
                .find(|(known, _)| *known == name)
                .expect("checked against the choices");
            for threads in parameters.integers("threads") {
                let case = Case::new().with("test", name).with("threads", threads);
                let mut body = Play {
                    start: Scene::new(size, context.seed),
                    frames,
                    threads: threads as usize,
                    end: None,
                };
                let units = frames as f64;
                context.measure("rate", &case, Quantity::PerSecond { units }, &mut body);
            }
        }
        Ok(())
    }
}

/// One operation is a whole game from its start.
struct Play {
    start: Scene,
    frames: u64,
    threads: usize,
    end: Option<Scene>,
}

impl Body for Play {
    fn batch(&mut self, operations: u64) -> u64 {
        let mut sum = 0u64;
        for _ in 0..operations {
            let mut scene = self.start.clone();
            for _ in 0..self.frames {
                scene.frame(self.threads);
            }
            sum = sum.wrapping_add(scene.checksum());
            self.end = Some(scene);
        }
        sum
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let Some(end) = &self.end else {
            return Err(Failure::Invalid("nothing was played".into()));
        };
        if let Some(fault) = end.fault() {
            return Err(Failure::Invalid(fault));
        }
        let checksum = end.checksum();
        if checksum.wrapping_mul(operations) != returned {
            return Err(Failure::Invalid(
                "games from one start ended differently".into(),
            ));
        }
        Ok(checksum)
    }
}

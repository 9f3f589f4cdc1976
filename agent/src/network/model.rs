//! Packet sizes and inter-departure times: each a distribution, drawn from a published seed.
//!
//! The generator is PCG XSL RR 128/64 (O'Neill 2014, `Pcg64` of numpy under another name), the
//! samplers are those of the crate `rand_distr`; both are pinned, so a seed always gives the same
//! packets.

use rand_distr::{Cauchy, Distribution, Exp, Gamma, Normal, Pareto, Poisson, Uniform, Weibull};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

/// Sizes and shares of the simple Internet mix: 40, 576 and 1500 byte IP packets as 7 : 4 : 1
/// (RFC 6985 names the mixture; less 28 bytes of IPv4 and UDP headers).
const IMIX: [(f64, u32); 3] = [(32.0, 7), (548.0, 4), (1472.0, 1)];

/// A distribution of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "lowercase", deny_unknown_fields)]
pub enum Model {
    Constant {
        value: f64,
    },
    Uniform {
        minimum: f64,
        maximum: f64,
    },
    Exponential {
        mean: f64,
    },
    Pareto {
        shape: f64,
        scale: f64,
    },
    Cauchy {
        location: f64,
        scale: f64,
    },
    Normal {
        mean: f64,
        sd: f64,
    },
    Poisson {
        mean: f64,
    },
    Gamma {
        shape: f64,
        scale: f64,
    },
    Weibull {
        shape: f64,
        scale: f64,
    },
    Imix {},
    /// The values in their order, again and again.
    Trace {
        values: Vec<f64>,
    },
}

/// The time between two packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Seconds, or with `rate` packets per second, of which the gap is the inverse. A constant
    /// rate of 0 asks for as many packets as the system takes.
    pub of: Model,
    #[serde(default)]
    pub rate: bool,
    /// Lengths of the periods with and without packets, s.
    #[serde(default)]
    pub on: Option<Model>,
    #[serde(default)]
    pub off: Option<Model>,
}

type Draw = Box<dyn FnMut(&mut Pcg64) -> f64 + Send>;

/// Draws numbers of one model.
pub struct Sampler {
    draw: Draw,
    random: Pcg64,
}

impl Sampler {
    /// `stream` separates the samplers that share a seed. The error says what is wrong with the
    /// model's numbers.
    pub fn new(model: &Model, seed: u64, stream: u64) -> Result<Self, String> {
        Ok(Self {
            draw: draw(model)?,
            // The stream is the odd increment of the generator.
            random: Pcg64::new(u128::from(seed), u128::from(stream)),
        })
    }

    #[inline]
    pub fn draw(&mut self) -> f64 {
        (self.draw)(&mut self.random)
    }
}

fn boxed(distribution: impl Distribution<f64> + Send + 'static) -> Draw {
    Box::new(move |random| distribution.sample(random))
}

fn draw(model: &Model) -> Result<Draw, String> {
    let wrong = |why: &dyn std::fmt::Display| {
        let text = serde_json::to_string(model).expect("plain data");
        format!("the model {text} cannot be drawn from: {why}")
    };
    Ok(match *model {
        Model::Constant { value } => Box::new(move |_| value),
        Model::Uniform { minimum, maximum } => {
            boxed(Uniform::new_inclusive(minimum, maximum).map_err(|e| wrong(&e))?)
        }
        Model::Exponential { mean } => boxed(Exp::new(1.0 / mean).map_err(|e| wrong(&e))?),
        Model::Pareto { shape, scale } => boxed(Pareto::new(scale, shape).map_err(|e| wrong(&e))?),
        Model::Cauchy { location, scale } => {
            boxed(Cauchy::new(location, scale).map_err(|e| wrong(&e))?)
        }
        Model::Normal { sd, .. } if sd < 0.0 => return Err(wrong(&"sd is negative")),
        Model::Normal { mean, sd } => boxed(Normal::new(mean, sd).map_err(|e| wrong(&e))?),
        Model::Poisson { mean } => boxed(Poisson::new(mean).map_err(|e| wrong(&e))?),
        Model::Gamma { shape, scale } => boxed(Gamma::new(shape, scale).map_err(|e| wrong(&e))?),
        Model::Weibull { shape, scale } => {
            boxed(Weibull::new(scale, shape).map_err(|e| wrong(&e))?)
        }
        Model::Imix {} => {
            let total: u32 = IMIX.iter().map(|(_, share)| share).sum();
            let place = Uniform::new(0, total).map_err(|e| wrong(&e))?;
            Box::new(move |random| {
                let mut left = place.sample(random);
                for (size, share) in IMIX {
                    if left < share {
                        return size;
                    }
                    left -= share;
                }
                unreachable!("the shares add up to the total")
            })
        }
        Model::Trace { ref values } => {
            if values.is_empty() {
                return Err(wrong(&"the trace is empty"));
            }
            let values = values.clone();
            let mut place = 0;
            Box::new(move |_| {
                let value = values[place];
                place = (place + 1) % values.len();
                value
            })
        }
    })
}

/// The intended times of the packets of one flow, ns from its start.
pub struct Schedule {
    gap: Sampler,
    rate: bool,
    periods: Option<(Sampler, Sampler)>,
    next_ns: f64,
    on_until_ns: f64,
    unpaced: bool,
}

impl Schedule {
    pub fn new(gap: &Gap, seed: u64, flow: u32) -> Result<Self, String> {
        let stream = |role: u64| u64::from(flow) << 8 | role;
        let mut periods = match (&gap.on, &gap.off) {
            (Some(on), Some(off)) => Some((
                Sampler::new(on, seed, stream(2))?,
                Sampler::new(off, seed, stream(3))?,
            )),
            (None, None) => None,
            _ => return Err("a gap with one of 'on' and 'off' needs the other too".into()),
        };
        let on_until_ns = periods
            .as_mut()
            .map_or(f64::INFINITY, |(on, _)| on.draw().max(0.0) * 1e9);
        let unpaced = gap.of == Model::Constant { value: 0.0 };
        Ok(Self {
            gap: Sampler::new(&gap.of, seed, stream(1))?,
            rate: gap.rate,
            periods,
            next_ns: 0.0,
            on_until_ns,
            unpaced,
        })
    }

    /// Whether packets are sent as fast as the system takes them.
    pub fn unpaced(&self) -> bool {
        self.unpaced
    }

    /// When the next packet is due. A negative gap (a normal or Cauchy model can draw one) counts
    /// as none.
    #[inline]
    pub fn next_ns(&mut self) -> u64 {
        let due = self.next_ns;
        let drawn = self.gap.draw();
        let seconds = if self.rate { 1.0 / drawn } else { drawn };
        if !self.unpaced {
            self.next_ns += (seconds * 1e9).max(0.0);
        }
        while self.next_ns >= self.on_until_ns {
            let Some((on, off)) = &mut self.periods else {
                break;
            };
            let pause = off.draw().max(0.0) * 1e9;
            self.next_ns += pause;
            self.on_until_ns += pause + (on.draw() * 1e9).max(1.0);
        }
        due as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(model: Model) -> f64 {
        let mut sampler = Sampler::new(&model, 7, 0).unwrap();
        (0..200_000).map(|_| sampler.draw()).sum::<f64>() / 200_000.0
    }

    #[test]
    fn each_model_has_its_mean() {
        for (model, expected) in [
            (Model::Constant { value: 3.0 }, 3.0),
            (
                Model::Uniform {
                    minimum: 1.0,
                    maximum: 5.0,
                },
                3.0,
            ),
            (Model::Exponential { mean: 3.0 }, 3.0),
            (
                Model::Pareto {
                    shape: 4.0,
                    scale: 3.0,
                },
                4.0,
            ),
            (Model::Normal { mean: 3.0, sd: 1.0 }, 3.0),
            (Model::Poisson { mean: 3.0 }, 3.0),
            (
                Model::Gamma {
                    shape: 2.0,
                    scale: 1.5,
                },
                3.0,
            ),
            (
                Model::Weibull {
                    shape: 1.0,
                    scale: 3.0,
                },
                3.0,
            ),
            (Model::Imix {}, (7.0 * 32.0 + 4.0 * 548.0 + 1472.0) / 12.0),
            (
                Model::Trace {
                    values: vec![1.0, 2.0, 6.0],
                },
                3.0,
            ),
        ] {
            let found = mean(model.clone());
            assert!((found / expected - 1.0).abs() < 0.02, "{model:?}: {found}");
        }
    }

    #[test]
    fn the_median_of_cauchy_is_its_location() {
        let mut sampler = Sampler::new(
            &Model::Cauchy {
                location: 5.0,
                scale: 1.0,
            },
            7,
            0,
        )
        .unwrap();
        let below = (0..100_000).filter(|_| sampler.draw() < 5.0).count();
        assert!((49_000..51_000).contains(&below), "{below}");
    }

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_flow_gives_others() {
        let gap = Gap {
            of: Model::Exponential { mean: 1e-3 },
            rate: false,
            on: None,
            off: None,
        };
        let take = |flow| {
            let mut schedule = Schedule::new(&gap, 1, flow).unwrap();
            (0..50).map(|_| schedule.next_ns()).collect::<Vec<_>>()
        };
        assert_eq!(take(0), take(0));
        assert_ne!(take(0), take(1));
        assert!(take(0).windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn no_packet_is_due_in_a_pause() {
        let gap = Gap {
            of: Model::Constant { value: 1000.0 },
            rate: true,
            on: Some(Model::Constant { value: 0.010 }),
            off: Some(Model::Constant { value: 0.020 }),
        };
        let mut schedule = Schedule::new(&gap, 1, 0).unwrap();
        for _ in 0..100 {
            let within = schedule.next_ns() % 30_000_000;
            assert!(within < 10_000_000, "{within}");
        }
    }

    #[test]
    fn wrong_numbers_are_named() {
        let error = Sampler::new(
            &Model::Pareto {
                shape: -1.0,
                scale: 1.0,
            },
            0,
            0,
        )
        .err()
        .unwrap();
        assert!(error.contains("pareto"), "{error}");
    }
}

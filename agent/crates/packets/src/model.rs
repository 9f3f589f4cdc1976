//! Packet sizes and inter-departure times: each a distribution, drawn from a published seed.
//!
//! The generator is PCG XSL RR 128/64 (O'Neill 2014, `Pcg64` of numpy under another name), the
//! samplers are those of the crate `rand_distr`; both are pinned, so a seed always gives the same
//! packets.

use rand_distr::{Cauchy, Distribution, Exp, Gamma, Normal, Pareto, Poisson, Uniform, Weibull};
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Sizes and shares of the simple Internet mix: 40, 576 and 1500 byte IP packets as 7 : 4 : 1
/// (RFC 6985 names the mixture; less 28 bytes of IPv4 and UDP headers).
const IMIX: [(f64, u32); 3] = [(32.0, 7), (548.0, 4), (1472.0, 1)];

/// No flow is longer: a rate that is zero for so long has no further packet.
const LONGEST_NS: f64 = 7200e9;

/// Periods with and without packets that one gap may pass; after so many there is no further packet.
/// Those of a few nanoseconds would be counted for hours.
const MOST_PERIODS: u32 = 1_000_000;

/// The shortest time for which a rate can hold, s.
const SHORTEST_HOLD_S: f64 = 1e-3;

/// A distribution of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Whole numbers of `unit`.
    Poisson {
        mean: f64,
        #[serde(default = "one")]
        unit: f64,
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

fn one() -> f64 {
    1.0
}

/// The time between two packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// Seconds, or with `rate` packets per second, of which the gap is the inverse. A constant
    /// rate of 0 requests as many packets as the system takes.
    pub of: Model,
    #[serde(default)]
    pub rate: bool,
    /// For how long a rate that was drawn holds, s; none if each packet has its own.
    ///
    /// The mean rate of the flow is then the mean of the model. Where each packet has its own rate,
    /// slow packets last longer: it is the inverse of the mean gap, the model's harmonic mean.
    #[serde(default)]
    pub hold_s: Option<f64>,
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
    /// `stream` separates the samplers that share a seed. The error states what is wrong with the
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
        Model::Poisson { mean, unit } => {
            let counts = Poisson::new(mean).map_err(|e| wrong(&e))?;
            Box::new(move |random| unit * counts.sample(random))
        }
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
    held: Option<Held>,
    periods: Option<(Sampler, Sampler)>,
    next_ns: f64,
    on_until_ns: f64,
    unpaced: bool,
}

/// A rate, the length of the times for which one holds, and when this one ends, ns.
struct Held {
    per_ns: f64,
    length_ns: f64,
    until_ns: f64,
}

impl Held {
    /// When the packet after one at `now` is due: it takes its share of every rate that holds
    /// meanwhile. A rate below zero counts as none.
    fn next_ns(&mut self, mut now: f64, rates: &mut Sampler) -> f64 {
        let mut left = 1.0;
        while now < LONGEST_NS {
            while self.until_ns <= now {
                self.until_ns += self.length_ns;
                self.per_ns = rates.draw().max(0.0) * 1e-9;
            }
            let due = now + left / self.per_ns;
            if due <= self.until_ns {
                return due;
            }
            left -= (self.until_ns - now) * self.per_ns;
            now = self.until_ns;
        }
        f64::INFINITY
    }
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
        let held = gap.hold_s.map(|hold_s| Held {
            per_ns: 0.0,
            length_ns: hold_s * 1e9,
            until_ns: 0.0,
        });
        if gap
            .hold_s
            .is_some_and(|hold_s| !gap.rate || hold_s.is_nan() || hold_s < SHORTEST_HOLD_S)
        {
            return Err(format!(
                "'hold_s' is for rates, and at least {SHORTEST_HOLD_S} s"
            ));
        }
        Ok(Self {
            gap: Sampler::new(&gap.of, seed, stream(1))?,
            rate: gap.rate,
            held,
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
        if !self.unpaced {
            self.next_ns = match &mut self.held {
                Some(held) => held.next_ns(self.next_ns, &mut self.gap),
                None => {
                    let drawn = self.gap.draw();
                    let seconds = if self.rate { 1.0 / drawn } else { drawn };
                    self.next_ns + (seconds * 1e9).max(0.0)
                }
            };
        }
        if self.next_ns.is_infinite() {
            return due as u64; // A rate of zero: there is no further packet.
        }
        let mut passed = 0;
        while self.next_ns >= self.on_until_ns {
            let Some((on, off)) = &mut self.periods else {
                break;
            };
            passed += 1;
            if passed > MOST_PERIODS {
                self.next_ns = f64::INFINITY;
                break;
            }
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
            (
                Model::Poisson {
                    mean: 3.0,
                    unit: 1.0,
                },
                3.0,
            ),
            (
                Model::Poisson {
                    mean: 5.0,
                    unit: 1e-3,
                },
                5e-3,
            ),
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
            hold_s: None,
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
            hold_s: None,
            on: Some(Model::Constant { value: 0.010 }),
            off: Some(Model::Constant { value: 0.020 }),
        };
        let mut schedule = Schedule::new(&gap, 1, 0).unwrap();
        for _ in 0..100 {
            let within = schedule.next_ns() % 30_000_000;
            assert!(within < 10_000_000, "{within}");
        }
    }

    fn uniform_rate(hold_s: Option<f64>) -> Gap {
        Gap {
            of: Model::Uniform {
                minimum: 30e3,
                maximum: 300e3,
            },
            rate: true,
            hold_s,
            on: None,
            off: None,
        }
    }

    /// Packets per second of a schedule of `seconds`.
    fn mean_rate(gap: &Gap, seconds: f64) -> f64 {
        let mut schedule = Schedule::new(gap, 7, 0).unwrap();
        let end = (seconds * 1e9) as u64;
        std::iter::repeat_with(|| schedule.next_ns())
            .take_while(|due| *due < end)
            .count() as f64
            / seconds
    }

    #[test]
    fn a_rate_of_each_packet_has_the_harmonic_mean_and_one_that_holds_the_arithmetic() {
        let harmonic = 270e3 / 10_f64.ln(); // 1 / E[1/r] of a uniform rate.
        let each = mean_rate(&uniform_rate(None), 5.0);
        assert!((each / harmonic - 1.0).abs() < 0.01, "{each}");
        let held = mean_rate(&uniform_rate(Some(1e-3)), 5.0);
        assert!((held / 165e3 - 1.0).abs() < 0.03, "{held}");
    }

    #[test]
    fn inside_of_the_time_that_a_rate_holds_the_gaps_are_equal() {
        let mut schedule = Schedule::new(&uniform_rate(Some(0.01)), 7, 0).unwrap();
        let dues: Vec<u64> = (0..20_000).map(|_| schedule.next_ns()).collect();
        let mut rates = std::collections::BTreeMap::<u64, Vec<u64>>::new();
        for pair in dues.windows(2) {
            let hold = pair[0] / 10_000_000;
            if pair[1] / 10_000_000 == hold {
                rates.entry(hold).or_default().push(pair[1] - pair[0]);
            }
        }
        assert!(rates.len() > 5);
        for gaps in rates.values() {
            let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
            assert!(most - least <= 1, "{least} to {most} ns");
            assert!((3_333..=33_334).contains(least));
        }
    }

    #[test]
    fn a_rate_of_zero_holds_no_packets_and_ends_nothing() {
        let gap = Gap {
            of: Model::Trace {
                values: vec![1000.0, 0.0],
            },
            hold_s: Some(0.01),
            ..uniform_rate(None)
        };
        let mut schedule = Schedule::new(&gap, 1, 0).unwrap();
        let dues: Vec<u64> = (0..100).map(|_| schedule.next_ns()).collect();
        assert!(dues.windows(2).all(|pair| pair[0] < pair[1]));
        let busy = |due: &u64| (due + 20_000_000 - 1) % 20_000_000 < 10_000_000;
        assert!(dues[1..].iter().all(busy), "{dues:?}");
        let nothing = Gap {
            of: Model::Constant { value: -1.0 },
            ..gap
        };
        let mut schedule = Schedule::new(&nothing, 1, 0).unwrap();
        assert_eq!(schedule.next_ns(), 0);
        assert_eq!(schedule.next_ns(), u64::MAX, "no second packet");
    }

    #[test]
    fn a_time_that_is_too_short_or_holds_no_rate_is_refused() {
        for gap in [
            uniform_rate(Some(1e-4)),
            Gap {
                rate: false,
                ..uniform_rate(Some(1.0))
            },
        ] {
            let error = Schedule::new(&gap, 1, 0).err().unwrap();
            assert!(error.contains("hold_s"), "{error}");
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

    #[test]
    fn a_gap_over_countless_periods_is_the_last() {
        // Neither an end of the count nor one that a step of 1 ns could reach.
        for gap_s in [1e5, 1e30] {
            let nothing = || Some(Model::Constant { value: 0.0 });
            let gap = Gap {
                of: Model::Constant { value: gap_s },
                rate: false,
                hold_s: None,
                on: nothing(),
                off: nothing(),
            };
            let mut schedule = Schedule::new(&gap, 1, 0).unwrap();
            assert_eq!(schedule.next_ns(), 0);
            assert_eq!(schedule.next_ns(), u64::MAX);
        }
    }
}

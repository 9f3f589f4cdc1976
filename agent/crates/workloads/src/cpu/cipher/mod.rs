//! `cpu.cipher`: AES with keys of 128 and 256 bits and RSA with keys of 512 and 1024 bits.

mod aes_block;
#[allow(unsafe_code)]
pub(super) mod kernels;
mod rsa_raw;

use super::checksum::of_words;
use aes_block::Aes;
use pentathlon_harness::measure::{Body, Context, Failure, Quantity};
use pentathlon_protocol::catalog::{self, Factor, Metric, Parameter, Semantics};
use pentathlon_protocol::Case;
use rsa_raw::Rsa;

const ALGORITHMS: [&str; 4] = ["aes-128", "aes-256", "rsa-512", "rsa-1024"];

pub struct Cipher;

impl super::Workload for Cipher {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "cpu.cipher",
            title: "Ciphers",
            summary: "AES with cipher block chaining and bare RSA: each direction alone, and the \
                      time of all of them. Decryption must restore what was encrypted.",
            source: "martinovic2012 §4.4, Tab. 6 and 13 (ScienceMark Cipher)",
            parameters: vec![
                Parameter::texts_of("algorithm", &ALGORITHMS)
                    .described("ciphers to run, with their key lengths in bits"),
                Parameter::integer("bytes", 1 << 20)
                    .unit("B")
                    .limits(16.0, f64::from(1 << 28))
                    .described("buffer that AES encrypts and decrypts in place"),
                Parameter::integer("messages", 100)
                    .limits(1.0, 1_000_000.0)
                    .described("RSA messages encrypted and decrypted in the time of all"),
            ],
            factors: vec![
                Factor::category("algorithm", "cipher"),
                Factor::category("direction", "direction"),
            ],
            metrics: vec![
                Metric::higher("rate", "AES throughput", "MB/s"),
                Metric::lower("operation", "Time per RSA message", "us"),
                Metric::lower("time", "Calculation time of all ciphers", "s"),
            ],
            checksum: "FNV-1a of what was encrypted",
            semantics: Semantics::alike(
                "no system calls but for memory; the processor's AES instructions where it \
                        has them",
            ),
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let parameters = context.parameters.clone();
        let names = parameters.texts("algorithm");
        let mut engines = Vec::new();
        for name in &names {
            let bytes = parameters.integer("bytes") as usize;
            engines.push(Engine::new(name, bytes, context.seed)?);
        }
        for (name, engine) in names.iter().zip(&mut engines) {
            for direction in [Direct::Encrypt, Direct::Decrypt] {
                let case = Case::new()
                    .with("algorithm", *name)
                    .with("direction", direction.name());
                let (metric, quantity) = engine.quantity();
                let mut body = OneWay { engine, direction };
                context.measure(metric, &case, quantity, &mut body);
            }
        }
        let case = Case::new()
            .with("algorithm", "all")
            .with("direction", "both");
        let mut body = All {
            engines: &mut engines,
            messages: parameters.integer("messages"),
        };
        context.measure("time", &case, Quantity::SECONDS, &mut body);
        Ok(())
    }
}

/// One cipher with its key and data.
enum Engine {
    Aes(Box<Aes>),
    Rsa(Box<Rsa>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direct {
    Encrypt,
    Decrypt,
}

impl Direct {
    fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Decrypt => "decrypt",
        }
    }
}

impl Engine {
    fn new(name: &str, bytes: usize, seed: u64) -> Result<Self, Failure> {
        let (kind, bits) = name.split_once('-').expect("one of the choices");
        let bits = bits.parse().expect("one of the choices");
        Ok(if kind == "aes" {
            Self::Aes(Box::new(Aes::new(bits, bytes, seed)?))
        } else {
            Self::Rsa(Box::new(Rsa::new(bits, seed)?))
        })
    }

    fn quantity(&self) -> (&'static str, Quantity) {
        match self {
            Self::Aes(aes) => {
                let units = aes.bytes() as f64;
                ("rate", Quantity::MegaPerSecond { units })
            }
            Self::Rsa(_) => ("operation", Quantity::NsPer { parts: 1e3 }),
        }
    }

    fn go(&mut self, direction: Direct) -> Result<(), Failure> {
        match (self, direction) {
            (Self::Aes(aes), Direct::Encrypt) => aes.encrypt(),
            (Self::Aes(aes), Direct::Decrypt) => aes.decrypt(),
            (Self::Rsa(rsa), Direct::Encrypt) => rsa.encrypt(),
            (Self::Rsa(rsa), Direct::Decrypt) => rsa.decrypt(),
        }
    }

    fn reset(&mut self) {
        if let Self::Aes(aes) = self {
            aes.reset();
        }
    }

    fn checksum(&self) -> u64 {
        match self {
            Self::Aes(aes) => aes.checksum(),
            Self::Rsa(rsa) => rsa.checksum(),
        }
    }

    fn restored(&self) -> Result<(), Failure> {
        match self {
            Self::Aes(aes) => aes.restored(),
            Self::Rsa(rsa) => rsa.restored(),
        }
    }
}

/// One cipher in one direction, again and again in place.
struct OneWay<'a> {
    engine: &'a mut Engine,
    direction: Direct,
}

impl Body for OneWay<'_> {
    fn prepare(&mut self, _operations: u64) -> Result<(), Failure> {
        self.engine.reset();
        Ok(())
    }

    /// Returns how many operations succeeded.
    fn batch(&mut self, operations: u64) -> u64 {
        (0..operations)
            .filter(|_| self.engine.go(self.direction).is_ok())
            .count() as u64
    }

    /// Undoes the whole batch, then does one operation whose result does not depend on its size.
    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        if returned != operations {
            return Err(Failure::Failed(format!(
                "{} of {operations} operations failed",
                operations - returned
            )));
        }
        let back = match self.direction {
            Direct::Encrypt => Direct::Decrypt,
            Direct::Decrypt => Direct::Encrypt,
        };
        let undone = match self.engine {
            Engine::Aes(_) => operations,
            // RSA always starts from the message: one decryption shows all.
            Engine::Rsa(_) => u64::from(back == Direct::Decrypt),
        };
        for _ in 0..undone {
            self.engine.go(back)?;
        }
        self.engine.restored()?;
        self.engine.reset();
        self.engine.go(Direct::Encrypt)?;
        Ok(self.engine.checksum())
    }
}

/// Every cipher in both directions: what the paper reports as one time.
struct All<'a> {
    engines: &'a mut [Engine],
    messages: u64,
}

impl Body for All<'_> {
    fn prepare(&mut self, _operations: u64) -> Result<(), Failure> {
        self.engines.iter_mut().for_each(Engine::reset);
        Ok(())
    }

    fn batch(&mut self, operations: u64) -> u64 {
        let mut done = 0;
        for _ in 0..operations {
            for engine in self.engines.iter_mut() {
                let times = match engine {
                    Engine::Aes(_) => 1,
                    Engine::Rsa(_) => self.messages,
                };
                for _ in 0..times {
                    let both = engine
                        .go(Direct::Encrypt)
                        .and_then(|()| engine.go(Direct::Decrypt));
                    done += u64::from(both.is_ok());
                }
            }
        }
        done
    }

    fn verify(&mut self, operations: u64, returned: u64) -> Result<u64, Failure> {
        let rsa = self
            .engines
            .iter()
            .filter(|e| matches!(e, Engine::Rsa(_)))
            .count() as u64;
        let each = self.engines.len() as u64 - rsa + rsa * self.messages;
        if returned != operations * each {
            return Err(Failure::Failed(format!(
                "{returned} of {} operations succeeded",
                operations * each
            )));
        }
        let mut sums = Vec::new();
        for engine in self.engines.iter_mut() {
            engine.restored()?;
            engine.go(Direct::Encrypt)?;
            sums.push(engine.checksum());
            engine.reset();
        }
        Ok(of_words(sums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engines() -> Vec<Engine> {
        let names = ["aes-128", "aes-256", "rsa-512"];
        names.map(|name| Engine::new(name, 1024, 3).unwrap()).into()
    }

    #[test]
    fn checksums_do_not_depend_on_the_batch() {
        let sums = |operations| {
            let mut engines = engines();
            let mut sums = Vec::new();
            for engine in &mut engines {
                for direction in [Direct::Encrypt, Direct::Decrypt] {
                    let mut body = OneWay { engine, direction };
                    body.prepare(operations).unwrap();
                    let returned = body.batch(operations);
                    sums.push(body.verify(operations, returned).unwrap());
                }
            }
            let mut all = All {
                engines: &mut engines,
                messages: 2,
            };
            all.prepare(operations).unwrap();
            let returned = all.batch(operations);
            sums.push(all.verify(operations, returned).unwrap());
            sums
        };
        assert_eq!(sums(1), sums(3));
    }

    #[test]
    fn fewer_operations_than_claimed_are_noticed() {
        let mut engines = engines();
        let mut body = OneWay {
            engine: &mut engines[0],
            direction: Direct::Encrypt,
        };
        body.prepare(2).unwrap();
        body.batch(2);
        // Three operations were claimed: undoing three does not restore the plain text.
        assert!(body.verify(3, 3).is_err());
        assert!(body.verify(3, 2).is_err());
    }
}

//! `/proc/cpuinfo`: one paragraph of `key : value` lines for each CPU (proc(5)).

use crate::leaf::{Reason, Reported};
use crate::source::Source;
use std::collections::BTreeSet;
use std::rc::Rc;

#[derive(Debug, Clone)]
pub struct Cpuinfo(Reported<Rc<str>>);

impl Cpuinfo {
    pub fn read(source: &Source) -> Self {
        Self(source.text("/proc/cpuinfo"))
    }

    /// The first value of `key`. gVisor says "unknown" for what it does not pass on.
    pub fn get(&self, key: &str) -> Reported<&str> {
        let text = self.0.as_ref().map_err(Clone::clone)?;
        lines(text)
            .find(|&(name, value)| name == key && !value.is_empty())
            .map(|(_, value)| value)
            .filter(|&value| value != "unknown")
            .ok_or_else(|| Reason::new(format!("/proc/cpuinfo has no {key:?}")))
    }

    pub fn string(&self, key: &str) -> Reported<String> {
        self.get(key).map(str::to_owned)
    }

    pub fn number(&self, key: &str) -> Reported<u64> {
        self.get(key)?
            .parse()
            .map_err(|_| Reason::new(format!("{key:?} of /proc/cpuinfo is not a number")))
    }

    /// How many CPUs there are paragraphs for.
    pub fn processors(&self) -> Reported<usize> {
        let text = self.0.as_ref().map_err(Clone::clone)?;
        match lines(text).filter(|&(name, _)| name == "processor").count() {
            0 => Err(Reason::new("/proc/cpuinfo lists no processor")),
            count => Ok(count),
        }
    }

    /// The sockets, and the cores as (socket, core), of all CPUs listed.
    pub fn topology(&self) -> Reported<(usize, usize)> {
        let text = self.0.as_ref().map_err(Clone::clone)?;
        let mut cores = BTreeSet::new();
        let mut socket = "";
        for (name, value) in lines(text) {
            match name {
                "physical id" => socket = value,
                "core id" => {
                    cores.insert((socket, value));
                }
                _ => {}
            }
        }
        if cores.is_empty() {
            return Err(Reason::new("/proc/cpuinfo has no \"core id\""));
        }
        let sockets: BTreeSet<_> = cores.iter().map(|&(socket, _)| socket).collect();
        Ok((sockets.len(), cores.len()))
    }
}

fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()))
}

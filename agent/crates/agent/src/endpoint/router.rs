//! The host as a router (RFC 1812): it forwards, and what its forwarding depends on is
//! set. Everything is put back when the endpoint ends.

use super::answer::Answer;
use super::trial::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use std::net::IpAddr;

/// What the host's forwarding depends on; what is left out stays as it is.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub struct Tuning {
    /// Packets that one run of the receive soft interrupt handles (`net.core.netdev_budget`); 0:
    /// as the host had it.
    pub budget: Option<u32>,
    pub routes: Option<RouteTable>,
    pub firewall: Option<Firewall>,
    pub polling: Option<Polling>,
}

/// Who polls an interface: a thread of its own, or the soft interrupt.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub struct Polling {
    pub interface: String,
    pub threaded: bool,
}

/// Unused routes, so that the table is as long as requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub struct RouteTable {
    pub count: u32,
    pub via: IpAddr,
}

/// Rules on forwarded packets of one version of the protocol, none of which matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
pub struct Firewall {
    pub rules: u32,
    pub ip_version: u8,
}

#[cfg(target_os = "linux")]
pub use linux::Router;

#[cfg(target_os = "linux")]
mod linux {
    use super::{Answer, Firewall, Polling, Refusal, RouteTable, Tuning};
    use crate::endpoint::answer::RefusedFile;
    use pentathlon_os::routes::Routes;
    use std::io::{ErrorKind, Write};
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    use std::path::Path;
    use std::process::{Command, Stdio};

    const SWITCHES: [&str; 2] = [
        "/proc/sys/net/ipv4/ip_forward",
        "/proc/sys/net/ipv6/conf/all/forwarding",
    ];
    const BUDGET: &str = "/proc/sys/net/core/netdev_budget";
    /// The name of our table of rules, which nobody else has.
    const TABLE: &str = "pentathlon_forwarding";
    /// Lengths of the prefixes of the routes that fill the table.
    const PREFIXES: [u8; 2] = [28, 64];

    pub struct Router {
        /// Files with what they held before, in the order of their change.
        before: Vec<(String, String)>,
        routes: Option<RouteTable>,
        firewall: Option<Firewall>,
        /// Gives the firewall its commands.
        tell_firewall: fn(&str) -> Result<(), Refusal>,
    }

    impl Default for Router {
        fn default() -> Self {
            Self {
                before: Vec::new(),
                routes: None,
                firewall: None,
                tell_firewall: nft,
            }
        }
    }

    impl Router {
        /// The `forwarding` event, with the switches that the system does not have.
        pub fn forward(&mut self, on: bool) -> Result<Answer, Refusal> {
            let mut refused = Vec::new();
            for path in SWITCHES {
                if let Err(error) = self.write(path, if on { "1" } else { "0" }) {
                    refused.push(RefusedFile {
                        file: path.to_owned(),
                        reason: error.to_string(),
                    });
                }
            }
            if refused.len() == SWITCHES.len() {
                let reason = &refused[0].reason;
                return Err(format!("the host cannot be made to forward: {reason}").into());
            }
            Ok(Answer::Forwarding { on, refused })
        }

        /// The `tuned` event.
        pub fn tune(&mut self, tuning: &Tuning) -> Result<Answer, Refusal> {
            if let Some(budget) = tuning.budget {
                self.set_budget(budget)?;
            }
            if let Some(routes) = tuning.routes {
                self.set_routes(routes)?;
            }
            if let Some(firewall) = tuning.firewall {
                self.set_firewall(firewall)?;
            }
            if let Some(polling) = &tuning.polling {
                self.set_polling(polling)?;
            }
            Ok(Answer::Tuned {})
        }

        fn write(&mut self, path: &str, value: &str) -> std::io::Result<()> {
            let old = std::fs::read_to_string(path)?;
            if old.trim() == value {
                return Ok(());
            }
            std::fs::write(path, value)?;
            self.before.push((path.into(), old));
            Ok(())
        }

        fn set_polling(&mut self, wanted: &Polling) -> Result<(), Refusal> {
            if wanted.interface.contains('/') {
                return Err(format!("\"{}\" is no interface", wanted.interface).into());
            }
            let path = format!("/sys/class/net/{}/threaded", wanted.interface);
            if !wanted.threaded && !Path::new(&path).exists() {
                return Ok(()); // A kernel without the file already is as requested.
            }
            self.write(&path, if wanted.threaded { "1" } else { "0" })
                .map_err(|e| {
                    unsupported(format!(
                        "{} cannot be polled by a thread: {e}",
                        wanted.interface
                    ))
                })
        }

        fn set_budget(&mut self, budget: u32) -> Result<(), Refusal> {
            let own = self.before.iter().find(|(path, _)| path == BUDGET);
            if budget == 0 {
                let Some((_, old)) = own.cloned() else {
                    return Ok(());
                };
                return std::fs::write(BUDGET, old)
                    .map_err(|e| format!("{BUDGET} cannot be put back: {e}").into());
            }
            if !Path::new(BUDGET).exists() {
                return Err(unsupported(
                    "the budget belongs to the whole kernel, and this namespace cannot set it: \
                     use a guest or another machine"
                        .into(),
                ));
            }
            self.write(BUDGET, &budget.to_string())
                .map_err(|e| unsupported(format!("the budget cannot be set: {e}")))
        }

        fn set_routes(&mut self, wanted: RouteTable) -> Result<(), Refusal> {
            let had = self.routes.take();
            let kept = had
                .filter(|one| one.via == wanted.via)
                .map_or(0, |one| one.count);
            let fail = |e| Refusal::from(format!("the table of routes cannot be changed: {e}"));
            let mut table = Routes::open().map_err(fail)?;
            if let Some(other) = had.filter(|one| one.via != wanted.via) {
                take_away(&mut table, 0..other.count, other.via);
            }
            take_away(&mut table, wanted.count..kept, wanted.via);
            for number in kept..wanted.count {
                let (network, prefix) = destination(number, wanted.via);
                if let Err(error) = table.add(network, prefix, wanted.via) {
                    take_away(&mut table, 0..number, wanted.via);
                    return Err(fail(error));
                }
            }
            self.routes = Some(wanted);
            Ok(())
        }

        fn set_firewall(&mut self, wanted: Firewall) -> Result<(), Refusal> {
            if self.firewall == Some(wanted) || (self.firewall.is_none() && wanted.rules == 0) {
                return Ok(());
            }
            self.clear_firewall();
            if wanted.rules > 0 {
                self.firewall = Some(wanted);
                // What is refused is not in force, and half of it must not be either.
                (self.tell_firewall)(&ruleset(wanted)).inspect_err(|_| self.clear_firewall())?;
            }
            Ok(())
        }

        fn clear_firewall(&mut self) {
            if let Some(old) = self.firewall.take() {
                let family = table_family(old.ip_version);
                (self.tell_firewall)(&format!("delete table {family} {TABLE}\n")).ok();
            }
        }
    }

    impl Drop for Router {
        fn drop(&mut self) {
            self.clear_firewall();
            if let (Some(routes), Ok(mut table)) = (self.routes, Routes::open()) {
                take_away(&mut table, 0..routes.count, routes.via);
            }
            for (path, old) in self.before.drain(..).rev() {
                std::fs::write(path, old).ok();
            }
        }
    }

    fn take_away(table: &mut Routes, numbers: std::ops::Range<u32>, via: IpAddr) {
        for number in numbers {
            let (network, prefix) = destination(number, via);
            table.remove(network, prefix, via).ok();
        }
    }

    /// The network of a route that fills the table: private ones (RFC 1918, RFC 4193).
    fn destination(number: u32, via: IpAddr) -> (IpAddr, u8) {
        match via {
            IpAddr::V4(_) => {
                let bits = u32::from(Ipv4Addr::new(10, 0, 0, 0)) | number << 4;
                (Ipv4Addr::from(bits).into(), PREFIXES[0])
            }
            IpAddr::V6(_) => {
                let bits = 0xfd00_u128 << 112 | u128::from(number) << 64;
                (Ipv6Addr::from(bits).into(), PREFIXES[1])
            }
        }
    }

    fn table_family(ip_version: u8) -> &'static str {
        if ip_version == 6 {
            "ip6"
        } else {
            "ip"
        }
    }

    /// Rules that a packet from anywhere else passes one after the other.
    fn ruleset(wanted: Firewall) -> String {
        let family = table_family(wanted.ip_version);
        let mut text = format!(
            "table {family} {TABLE} {{\n chain forward {{\n  type filter hook forward priority 0; \
             policy accept;\n"
        );
        for number in 0..wanted.rules {
            let source = if wanted.ip_version == 6 {
                Ipv6Addr::from(0xfd01_u128 << 112 | u128::from(number)).to_string()
            } else {
                Ipv4Addr::from(u32::from(Ipv4Addr::new(172, 16, 0, 0)) | number).to_string()
            };
            text += &format!("  {family} saddr {source} drop\n");
        }
        text + " }\n}\n"
    }

    /// Gives nft(8) its commands.
    fn nft(commands: &str) -> Result<(), Refusal> {
        let started = Command::new("nft")
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = started.map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                unsupported("the system has no nft(8) to make rules with".into())
            }
            _ => format!("nft(8) cannot be started: {error}").into(),
        })?;
        let written = child
            .stdin
            .take()
            .map(|mut to| to.write_all(commands.as_bytes()));
        let done = child
            .wait_with_output()
            .map_err(|e| format!("nft(8): {e}"))?;
        if done.status.success() && !matches!(written, Some(Err(_))) {
            return Ok(());
        }
        let stated = String::from_utf8_lossy(&done.stderr);
        let line = stated.lines().next().unwrap_or("no reason given");
        Err(unsupported(format!("the rules are refused: {line}")))
    }

    fn unsupported(reason: String) -> Refusal {
        Refusal {
            unsupported: true,
            reason,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn routes_that_fill_the_table_are_all_different_and_private() {
            let via4 = IpAddr::from([198, 19, 0, 2]);
            let all: std::collections::HashSet<_> =
                (0..1_000_000).map(|n| destination(n, via4).0).collect();
            assert_eq!(all.len(), 1_000_000);
            assert!(all.iter().all(|network| match network {
                IpAddr::V4(network) => network.octets()[0] == 10 && network.octets()[3] % 16 == 0,
                IpAddr::V6(_) => false,
            }));
            let via6: IpAddr = "2001:db8::2".parse().unwrap();
            assert_eq!(destination(1, via6).0.to_string(), "fd00:0:0:1::");
        }

        #[test]
        fn every_rule_has_a_source_of_its_own() {
            let text = ruleset(Firewall {
                rules: 300,
                ip_version: 4,
            });
            let sources: std::collections::HashSet<_> =
                text.lines().filter(|line| line.contains("saddr")).collect();
            assert_eq!(sources.len(), 300);
            assert!(text.contains("ip saddr 172.16.1.43 drop"));
        }

        #[test]
        fn rules_that_were_refused_are_refused_again() {
            let mut router = Router::default();
            router.tell_firewall = |_| Err(unsupported("there is no firewall".into()));
            let tuning: Tuning =
                serde_json::from_str(r#"{"firewall": {"rules": 3, "ip_version": 4}}"#).unwrap();
            for _ in 0..2 {
                assert!(router
                    .tune(&tuning)
                    .is_err_and(|refusal| refusal.unsupported));
            }
        }

        #[test]
        fn nothing_is_done_that_is_not_asked_for() {
            let mut router = Router::default();
            let tuning =
                serde_json::from_str(r#"{"budget": 0, "firewall": {"rules": 0, "ip_version": 4}}"#)
                    .unwrap();
            assert!(router.tune(&tuning).is_ok());
            assert!(router.before.is_empty() && router.firewall.is_none());
        }
    }
}

#[cfg(not(target_os = "linux"))]
#[derive(Default)]
pub struct Router;

#[cfg(not(target_os = "linux"))]
impl Router {
    pub fn forward(&mut self, _: bool) -> Result<Answer, Refusal> {
        Err(elsewhere())
    }

    pub fn tune(&mut self, _: &Tuning) -> Result<Answer, Refusal> {
        Err(elsewhere())
    }
}

#[cfg(not(target_os = "linux"))]
fn elsewhere() -> Refusal {
    Refusal {
        unsupported: true,
        reason: "this agent makes a host forward on Linux only".into(),
    }
}

//! Makes a host forward packets between its interfaces (RFC 1812), and the host forget it.

use serde_json::{json, Value};

#[cfg(target_os = "linux")]
const SWITCHES: [&str; 2] = [
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/net/ipv6/conf/all/forwarding",
];

/// The `forwarding` event, with the switches that the system does not have.
#[cfg(target_os = "linux")]
pub fn switch(on: bool) -> Result<Value, String> {
    let value = if on { "1" } else { "0" };
    let mut refused = Vec::new();
    for path in SWITCHES {
        if let Err(error) = std::fs::write(path, value) {
            refused.push(json!({"file": path, "reason": error.to_string()}));
        }
    }
    if refused.len() == SWITCHES.len() {
        return Err(format!(
            "the host cannot be made to forward: {}",
            refused[0]["reason"]
        ));
    }
    Ok(json!({"event": "forwarding", "on": on, "refused": refused}))
}

#[cfg(not(target_os = "linux"))]
pub fn switch(_: bool) -> Result<Value, String> {
    Err("forwarding is switched on by this agent on Linux only".into())
}

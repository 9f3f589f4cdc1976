//! The interface of a guest that a test between hosts goes through.

use super::command::Network;
use serde_json::Value;

/// Brings the interface up and gives it the addresses; those that it does not take are listed.
#[cfg(target_os = "linux")]
pub fn address(interface: &str, addresses: &[Network]) -> Result<Value, String> {
    use pentathlon_os::address;
    use serde_json::json;
    address::silence(interface);
    address::up(interface)
        .map_err(|e| format!("the interface {interface} cannot be brought up: {e}"))?;
    // A system without one version of the protocol can still be tested with the other.
    let refused: Vec<_> = addresses
        .iter()
        .filter_map(|network| {
            let reason = address::add(interface, network.address, network.prefix).err()?;
            let reason = format!("the interface does not take an address of this family: {reason}");
            Some(json!({"address": network.address, "reason": reason}))
        })
        .collect();
    Ok(json!({"event": "addressed", "interface": interface, "refused": refused}))
}

#[cfg(not(target_os = "linux"))]
pub fn address(_: &str, _: &[Network]) -> Result<Value, String> {
    Err("interfaces are given addresses by this agent on Linux only".into())
}

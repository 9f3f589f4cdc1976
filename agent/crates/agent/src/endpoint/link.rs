//! The interface of a guest that a test between hosts goes through.

use super::answer::Answer;
use super::command::Network;

/// Brings the interface up and gives it the addresses; those that it does not take are listed.
#[cfg(target_os = "linux")]
pub fn address(interface: &str, addresses: &[Network]) -> Result<Answer, String> {
    use super::answer::RefusedAddress;
    use pentathlon_os::address;
    address::silence(interface);
    address::up(interface)
        .map_err(|e| format!("the interface {interface} cannot be brought up: {e}"))?;
    // A system without one version of the protocol can still be tested with the other.
    let refused = addresses
        .iter()
        .filter_map(|network| {
            let reason = address::add(interface, network.address, network.prefix).err()?;
            let reason = format!("the interface does not take an address of this family: {reason}");
            Some(RefusedAddress {
                address: network.address,
                reason,
            })
        })
        .collect();
    Ok(Answer::Addressed {
        interface: interface.to_owned(),
        refused,
    })
}

#[cfg(not(target_os = "linux"))]
pub fn address(_: &str, _: &[Network]) -> Result<Answer, String> {
    Err("interfaces are given addresses by this agent on Linux only".into())
}

//! How the system is set: power plan, core parking, page files, Defender, what guards the kernel. All of
//! it is in the registry, where an ordinary user may read it.

use super::{registered, reported};
use crate::leaf::{leaf, Reported};
use pentathlon_os::registry;
use serde_json::{json, Value};

const PLANS: &str = "SYSTEM\\CurrentControlSet\\Control\\Power\\User\\PowerSchemes";
const DEFAULTS: &str = "SYSTEM\\CurrentControlSet\\Control\\Power\\PowerSettings";
/// The subgroup of the processor, and in it the least share of cores that are not parked.
const CORE_PARKING: &str =
    "54533251-82be-4824-96c1-47b60b740d00\\0cc5b647-c1df-4637-891a-dec35c318583";
const MEMORY: &str = "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management";
const DEFENDER: &str = "SOFTWARE\\Microsoft\\Windows Defender";
const DEVICE_GUARD: &str = "SYSTEM\\CurrentControlSet\\Control\\DeviceGuard";

fn number(key: &str, name: &str) -> Reported<u32> {
    reported(
        &format!("the registry's {name}"),
        registry::number(key, name),
    )
}

pub fn power() -> Value {
    let plan = registered(PLANS, "ActivePowerScheme").map(|plan| plan.to_lowercase());
    let of_plan =
        |read: &dyn Fn(&str) -> Reported<Value>| leaf(plan.clone().and_then(|p| read(&p)));
    json!({
        "plan": leaf(plan.clone()),
        "plan_name": of_plan(&|plan| {
            let name = registered(&format!("{PLANS}\\{plan}"), "FriendlyName")?;
            Ok(plain(&name).into())
        }),
        "core_parking_percent": of_plan(&|plan| {
            // A plan holds what was changed in it; the rest is in a table of its own.
            number(&format!("{PLANS}\\{plan}\\{CORE_PARKING}"), "ACSettingIndex")
                .or_else(|_| {
                    let key = format!("{DEFAULTS}\\{CORE_PARKING}\\DefaultPowerSchemeValues\\{plan}");
                    number(&key, "ACSettingIndex")
                })
                .map(Into::into)
        }),
    })
}

/// "@%SystemRoot%\system32\powrprof.dll,-15,Balanced" -> "Balanced"
fn plain(name: &str) -> &str {
    match name.strip_prefix('@') {
        Some(reference) => reference.splitn(3, ',').nth(2).unwrap_or(name),
        None => name,
    }
}

/// Page files as they are set, each with its least and greatest size in MB (0: the system decides).
pub fn page_files() -> Value {
    leaf(reported(
        "the registry's PagingFiles",
        registry::strings(MEMORY, "PagingFiles"),
    ))
}

pub fn security() -> Value {
    // The value is there where protection is off.
    let disabled = registry::number(
        &format!("{DEFENDER}\\Real-Time Protection"),
        "DisableRealtimeMonitoring",
    );
    let is_there = reported("the registry's key of Defender", registry::keys(DEFENDER));
    let memory_integrity = format!("{DEVICE_GUARD}\\Scenarios\\HypervisorEnforcedCodeIntegrity");
    json!({
        "defender": {
            "real_time_protection": leaf(is_there.map(|_| !disabled.is_ok_and(|value| value == 1))),
            "tamper_protection": leaf(
                number(&format!("{DEFENDER}\\Features"), "TamperProtection")
            ),
        },
        "virtualization_based": leaf(
            number(DEVICE_GUARD, "EnableVirtualizationBasedSecurity").map(|value| value == 1)
        ),
        "memory_integrity": leaf(number(&memory_integrity, "Enabled").map(|value| value == 1)),
    })
}

/// Numbers of Microsoft's advisory on side channels of processors; without them its defaults hold.
pub fn mitigations() -> Value {
    json!({
        "feature_settings_override": leaf(number(MEMORY, "FeatureSettingsOverride")),
        "feature_settings_override_mask": leaf(number(MEMORY, "FeatureSettingsOverrideMask")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_refers_to_a_library_has_its_text_last() {
        let name = "@%SystemRoot%\\system32\\powrprof.dll,-15,Balanced, as ever";
        assert_eq!(plain(name), "Balanced, as ever");
        assert_eq!(plain("Mine"), "Mine");
    }

    #[test]
    fn every_leaf_is_there_or_has_a_reason() {
        fn check(value: &Value) {
            match value {
                Value::Object(fields) => fields.values().for_each(check),
                other => assert!(!other.is_null()),
            }
        }
        for section in [power(), security(), mitigations(), page_files()] {
            check(&section);
        }
    }
}

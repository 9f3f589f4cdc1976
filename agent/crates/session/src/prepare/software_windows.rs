//! What is installed on Windows, as martinovic2012 lists it (Sec. 6.1, Tab. 18 and 20, appendix):
//! updates, drivers by component with provider and version, third-party software. All of it is in the
//! registry, where an ordinary user may read it.

use super::Answer;
use pentathlon_inventory::leaf::{leaf, Reason};
use pentathlon_os::{registry, system};
use serde_json::{json, Map, Value};

const UPDATES: &str =
    "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Component Based Servicing\\Packages";
const CLASSES: &str = "SYSTEM\\CurrentControlSet\\Control\\Class";
const PROGRAMS: [&str; 2] = [
    "SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\Uninstall",
    "SOFTWARE\\WOW6432Node\\Microsoft\\Windows\\CurrentVersion\\Uninstall",
];
const SYSMAIN: &str = "SYSTEM\\CurrentControlSet\\Services\\SysMain";
const PREFETCH: &str =
    "SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Memory Management\\PrefetchParameters";

/// CurrentState of a package that is installed (CBS_STATE, cbsapi.h).
const INSTALLED: u32 = 0x70;
/// Start type of a service that never starts (SERVICE_DISABLED).
const DISABLED: u32 = 4;

/// The components of the tables, by the setup class that has their drivers.
const COMPONENTS: [(&str, &str); 7] = [
    ("CPU", "{50127dc3-0f36-415e-a6cc-4cb3be910b65}"),
    (
        "Graphics hardware",
        "{4d36e968-e325-11ce-bfc1-08002be10318}",
    ),
    ("HDD", "{4d36e967-e325-11ce-bfc1-08002be10318}"),
    (
        "Storage controller",
        "{4d36e97b-e325-11ce-bfc1-08002be10318}",
    ),
    ("Chipset", "{4d36e97d-e325-11ce-bfc1-08002be10318}"),
    ("Network", "{4d36e972-e325-11ce-bfc1-08002be10318}"),
    ("USB", "{36fc9e60-c465-11cf-8056-444553540000}"),
];

pub fn record() -> Answer {
    let or = |value: Result<Value, String>| leaf(value.map_err(Reason::new));
    Answer {
        outcome: "done",
        reason: None,
        detail: json!({
            "updates": or(updates()),
            "drivers": or(drivers()),
            "software": or(programs()),
            "learns_from_use": learns(),
        }),
    }
}

fn keys(key: &str) -> Result<Vec<String>, String> {
    registry::keys(key).map_err(|error| format!("the registry's key {key}: {error}"))
}

/// "Package_for_KB5034441~31bf3856ad364e35~amd64~~19041.3920.1.0" -> its name and version; other
/// packages are parts of the system.
fn update(package: &str) -> Option<(String, String)> {
    let mut parts = package.strip_prefix("Package_for_")?.split('~');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let version = parts.next_back().unwrap_or("");
    Some((name.to_owned(), version.to_owned()))
}

/// Updates that are installed, with their versions.
fn updates() -> Result<Value, String> {
    let mut found: Vec<String> = keys(UPDATES)?
        .iter()
        .filter(|package| {
            registry::number(&format!("{UPDATES}\\{package}"), "CurrentState")
                .is_ok_and(|state| state == INSTALLED)
        })
        .filter_map(|package| update(package))
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    found.sort();
    found.dedup();
    Ok(json!({ "count": found.len(), "updates": found }))
}

/// Drivers by component: provider and version, as Tab. 18 has them.
fn drivers() -> Result<Value, String> {
    keys(CLASSES)?;
    let mut components = Map::new();
    for (component, class) in COMPONENTS {
        let class = format!("{CLASSES}\\{class}");
        let mut found: Vec<(String, String, String)> = registry::keys(&class)
            .unwrap_or_default()
            .iter()
            .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            .filter_map(|name| {
                let text = |value| registry::string(&format!("{class}\\{name}"), value).ok();
                Some((
                    text("DriverDesc")?,
                    text("ProviderName").unwrap_or_default(),
                    text("DriverVersion")?,
                ))
            })
            .collect();
        found.sort();
        found.dedup();
        let value = if found.is_empty() {
            json!({ "unsupported": "the registry names no driver of this class" })
        } else {
            let entry = |(description, provider, version)| json!({"description": description, "provider": provider, "version": version});
            found.into_iter().map(entry).collect()
        };
        components.insert(component.into(), value);
    }
    Ok(Value::Object(components))
}

/// Third-party software and Microsoft's, but for parts of the system, as the system's own list has it.
fn programs() -> Result<Value, String> {
    let mut found = Vec::new();
    let lists: Vec<_> = PROGRAMS.iter().map(|list| (list, keys(list))).collect();
    if let [(_, Err(reason)), (_, Err(_))] = &lists[..] {
        return Err(reason.clone());
    }
    for (list, names) in lists {
        for name in names.unwrap_or_default() {
            let key = format!("{list}\\{name}");
            if registry::number(&key, "SystemComponent").is_ok_and(|flag| flag == 1) {
                continue;
            }
            if let Ok(title) = registry::string(&key, "DisplayName") {
                let version = registry::string(&key, "DisplayVersion").unwrap_or_default();
                found.push(format!("{title} {version}").trim_end().to_owned());
            }
        }
    }
    found.sort();
    found.dedup();
    Ok(json!({ "manager": "windows", "count": found.len(), "packages": found }))
}

/// SysMain, called SuperFetch before Windows 10, loads in advance what was used before.
fn learns() -> Value {
    if system::wine().is_some() {
        return json!({ "value": false, "evidence": ["Wine loads nothing in advance"] });
    }
    match registry::number(SYSMAIN, "Start") {
        Ok(start) => {
            let prefetcher = registry::number(PREFETCH, "EnablePrefetcher").unwrap_or(0);
            let evidence =
                format!("SysMain has start type {start}, EnablePrefetcher is {prefetcher}");
            json!({ "value": start != DISABLED || prefetcher != 0, "evidence": [evidence] })
        }
        Err(error) => json!({ "unsupported": format!("the service SysMain: {error}") }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_are_known_by_their_package() {
        let package = "Package_for_KB5034441~31bf3856ad364e35~amd64~~19041.3920.1.0";
        let expected = ("KB5034441".to_owned(), "19041.3920.1.0".to_owned());
        assert_eq!(update(package), Some(expected));
        assert_eq!(
            update("Microsoft-Windows-Foundation-Package~31bf~amd64~~10.0"),
            None
        );
        assert_eq!(update("Package_for_~x"), None);
    }

    #[test]
    fn every_part_is_listed_or_has_a_reason() {
        let detail = record().detail;
        for part in ["updates", "drivers", "software", "learns_from_use"] {
            let value = &detail[part];
            assert!(value.is_object(), "{part}");
            if let Some(reason) = value.get("unsupported") {
                assert!(!reason.as_str().unwrap().is_empty(), "{part}");
            }
        }
    }
}

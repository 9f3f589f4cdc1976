//! Which system this is: Windows by version and build, or Wine by its own.

use super::registered;
use crate::leaf::{leaf, leaf_or, Reason, Reported};
use pentathlon_os::registry;
use pentathlon_os::system::{self, Wine};
use serde_json::{json, Value};

const VERSION_KEY: &str = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
const BIOS_KEY: &str = "HARDWARE\\DESCRIPTION\\System\\BIOS";

/// What Wine is called in results: never Windows.
fn label(wine: &Wine) -> String {
    format!("Win32 API on Linux (Wine {})", wine.version)
}

fn value(name: &str) -> Reported<String> {
    registered(VERSION_KEY, name)
}

/// "10.0.19043" as RtlGetVersion gives it, with the update's number where there is one.
fn version() -> Reported<String> {
    let (major, minor, build) =
        system::version().ok_or_else(|| Reason::new("RtlGetVersion failed"))?;
    Ok(match registry::number(VERSION_KEY, "UBR") {
        Ok(update) => format!("{major}.{minor}.{build}.{update}"),
        Err(_) => format!("{major}.{minor}.{build}"),
    })
}

pub fn os(wine: Option<&Wine>) -> Value {
    let Some(wine) = wine else {
        return json!({
            "name": leaf(value("ProductName").map(|name| product(&name, system::version()))),
            "version": leaf(value("DisplayVersion")),
            "id": "windows",
            "version_id": leaf(version()),
            "edition": leaf(value("EditionID")),
            "installation_type": leaf(value("InstallationType")),
        });
    };
    json!({
        "name": label(wine),
        "version": wine.version,
        "id": "wine",
        "version_id": wine.version,
        "build": leaf_or(wine.build.clone(), "Wine does not report its build"),
        // What programs get that query the version of Windows.
        "claimed_version": leaf(version()),
    })
}

/// The registry of Windows 11 still says "Windows 10"; its builds begin at 22000.
fn product(name: &str, version: Option<(u32, u32, u32)>) -> String {
    match version {
        Some((10, 0, build)) if build >= 22_000 => name.replacen("Windows 10", "Windows 11", 1),
        _ => name.to_owned(),
    }
}

pub fn kernel(wine: Option<&Wine>) -> Value {
    let machine = match system::native() {
        (.., 0) => "x86",
        (.., 9) => "x86_64",
        (.., 12) => "aarch64",
        _ => "unknown",
    };
    match wine {
        None => json!({
            "name": "Windows NT",
            "release": leaf(version()),
            "version": leaf(value("BuildLabEx")),
            "machine": machine,
        }),
        Some(wine) => json!({
            "name": "Wine",
            "release": label(wine),
            "host": leaf_or(
                wine.host.as_ref().map(|(name, release)| format!("{name} {release}")),
                "Wine does not report the kernel below it",
            ),
            "machine": machine,
        }),
    }
}

pub fn firmware() -> Value {
    let entry = |name: &str| leaf(registered(BIOS_KEY, name));
    json!({
        "vendor": entry("BIOSVendor"),
        "version": entry("BIOSVersion"),
        "date": entry("BIOSReleaseDate"),
        "system_vendor": entry("SystemManufacturer"),
        "system_product": entry("SystemProductName"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_11_is_known_by_its_build() {
        let name = "Windows 10 Pro";
        assert_eq!(product(name, Some((10, 0, 19_045))), name);
        assert_eq!(product(name, Some((10, 0, 22_631))), "Windows 11 Pro");
        assert_eq!(
            product("Windows Server 2025", Some((10, 0, 26_100))),
            "Windows Server 2025"
        );
    }

    #[test]
    fn wine_is_never_called_windows() {
        let wine = system::wine();
        let (os, kernel) = (os(wine.as_ref()), kernel(wine.as_ref()));
        if wine.is_some() {
            assert_eq!(os["id"], "wine");
            assert!(os["name"]
                .as_str()
                .unwrap()
                .starts_with("Win32 API on Linux"));
            assert!(!kernel.to_string().contains("Windows"));
        } else {
            assert_eq!(os["id"], "windows");
        }
    }
}

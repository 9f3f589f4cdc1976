//! Which system this is: Windows by version and build, or Wine by its own.

use super::{registered, reported};
use crate::leaf::{leaf, leaf_or, Reason, Reported};
use pentathlon_os::system::{self, Wine};
use pentathlon_os::{machine, registry};
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

/// What distinguishes this boot from every other: the time at which the machine was started.
fn boot_id() -> Reported<String> {
    let started = reported("SystemTimeOfDayInformation", machine::started())?;
    if started == 0 {
        return Err(Reason::new("SystemTimeOfDayInformation says 0"));
    }
    Ok(iso_8601(started))
}

/// A time in units of 100 ns since 1601, as "2026-11-25T01:02:03.1234567Z".
fn iso_8601(time: u64) -> String {
    let (seconds, fraction) = (time / 10_000_000, time % 10_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from 1 March of a year 0 that begins a cycle of 400 years; 1601 begins one,
    // so 1 January 1601 is day 306 of the cycle that began in March 1600.
    let day = days + 306;
    let (cycle, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (
        1600 + 400 * cycle + year + u64::from(month > 9),
        if month > 9 { month - 9 } else { month + 3 },
    );
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{fraction:07}Z",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
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
            "boot_id": leaf(boot_id()),
        }),
        Some(wine) => json!({
            "name": "Wine",
            "release": label(wine),
            "host": leaf_or(
                wine.host.as_ref().map(|(name, release)| format!("{name} {release}")),
                "Wine does not report the kernel below it",
            ),
            "machine": machine,
            // The start of wineserver.
            "boot_id": leaf(boot_id()),
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
    fn times_are_written_as_iso_8601() {
        assert_eq!(iso_8601(0), "1601-01-01T00:00:00.0000000Z");
        // The beginning of POSIX time, in units of 100 ns.
        let posix = 116_444_736_000_000_000;
        assert_eq!(iso_8601(posix), "1970-01-01T00:00:00.0000000Z");
        let second = 10_000_000;
        let leap = posix + 1_709_164_799 * second + 1;
        assert_eq!(iso_8601(leap), "2024-02-28T23:59:59.0000001Z");
        assert_eq!(iso_8601(leap + second), "2024-02-29T00:00:00.0000001Z");
        let last = posix + 4_102_444_799 * second;
        assert_eq!(iso_8601(last), "2099-12-31T23:59:59.0000000Z");
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

//! The operating system around the kernel: os-release(5), its C library, its first process.

use crate::leaf::{first, leaf, Reason, Reported};
use crate::source::Source;
use serde_json::{json, Value};

pub fn collect(source: &Source) -> Value {
    let release = first(["/etc/os-release", "/usr/lib/os-release"].map(|path| source.text(path)));
    let field = |key: &str| {
        let text = release.as_ref().map_err(Clone::clone)?;
        value(text, key).ok_or_else(|| Reason::new(format!("os-release has no {key}")))
    };
    json!({
        "name": leaf(field("NAME")),
        "version": leaf(first([field("VERSION"), field("VERSION_ID"), field("BUILD_ID")])),
        "id": leaf(field("ID")),
        "version_id": leaf(field("VERSION_ID")),
        "pretty_name": leaf(field("PRETTY_NAME")),
        "point_release": leaf(source.string("/etc/debian_version")),
        "c_library": c_library(source),
        "init": leaf(source.string("/proc/1/comm")),
    })
}

/// A value of os-release, without its quotes and escapes.
fn value(text: &str, key: &str) -> Option<String> {
    let raw = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(key)?.strip_prefix('='))?
        .trim();
    let inner = ['"', '\'']
        .iter()
        .find_map(|&quote| raw.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(raw);
    let mut plain = String::new();
    let mut escaped = false;
    for c in inner.chars() {
        escaped = c == '\\' && !escaped;
        if !escaped {
            plain.push(c);
        }
    }
    (!plain.is_empty()).then_some(plain)
}

/// The C library that the system's own programs use. The agent brings its own.
fn c_library(source: &Source) -> Value {
    let (name, version) = match glibc(source) {
        Ok(version) => (Ok("glibc".to_owned()), Ok(version)),
        Err(refusal) => match musl(source) {
            Some(loader) => (
                Ok(format!("musl ({loader})")),
                Err(Reason::new(
                    "musl reports its version only when its loader is run",
                )),
            ),
            None => (Err(refusal.clone()), Err(refusal)),
        },
    };
    json!({ "name": leaf(name), "version": leaf(version) })
}

/// The banner in glibc: "GNU C Library (Debian GLIBC 2.36-9+deb12u10) stable release version 2.36."
fn glibc(source: &Source) -> Reported<String> {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let places = [
        format!("/lib/{triplet}/libc.so.6"),
        "/lib64/libc.so.6".to_owned(),
        "/usr/lib/libc.so.6".to_owned(),
        "/lib/libc.so.6".to_owned(),
    ];
    let Some(path) = places.iter().find(|path| source.exists(path)) else {
        return Err(Reason::new("no libc.so.6 in the usual directories"));
    };
    let start = b"GNU C Library (";
    let banner = source
        .find(path, start, 120)?
        .ok_or_else(|| Reason::new(format!("{path} has no banner of the GNU C Library")))?;
    let banner = banner.split('\n').next().unwrap_or_default();
    Ok(banner
        .trim_start_matches("GNU C Library (")
        .replacen(") stable release version", ",", 1)
        .trim_end_matches('.')
        .to_owned())
}

fn musl(source: &Source) -> Option<String> {
    let names = source.names("/lib").ok()?;
    names.into_iter().find(|name| name.starts_with("ld-musl-"))
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn quotes_and_escapes_are_taken_off() {
        let text = "NAME=\"Debian \\\"x\\\" \\\\\"\nVERSION_ID='12'\nID=debian\nEMPTY=\n";
        assert_eq!(value(text, "NAME").unwrap(), "Debian \"x\" \\");
        assert_eq!(value(text, "VERSION_ID").unwrap(), "12");
        assert_eq!(value(text, "ID").unwrap(), "debian");
        assert_eq!(value(text, "EMPTY"), None);
        assert_eq!(value(text, "VERSION"), None);
    }
}

//! The environment of a command: the same few variables on every system, and what the session needs
//! to find its processes again.

use super::directory;
use std::ffi::OsString;
use std::path::Path;

/// Where programs are looked for. The same on every system: with a search path of its own, one could
/// run another program of the same name.
const USUAL: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Begins the names of variables that mark the processes of a session.
const MARKS: &str = "PENTATHLON_";

/// What a program of Windows cannot do without.
const OF_WINDOWS: [&str; 3] = ["SYSTEMROOT", "COMSPEC", "PATHEXT"];

/// The search path for programs; Windows' own.
pub fn path() -> OsString {
    let own = std::env::var_os("PATH").filter(|_| cfg!(windows));
    own.unwrap_or_else(|| USUAL.into())
}

/// All variables of a run in a directory.
pub fn of(directory: &Path) -> Vec<(OsString, OsString)> {
    let temporary = directory::temporary(directory);
    let mut all: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), path()),
        ("HOME".into(), temporary.clone().into()),
        ("TMPDIR".into(), temporary.clone().into()),
        // Numbers and messages as programs print them without a locale, and text in UTF-8.
        ("LC_ALL".into(), "C.UTF-8".into()),
    ];
    if cfg!(windows) {
        for name in ["TEMP", "TMP", "USERPROFILE"] {
            all.push((name.into(), temporary.clone().into()));
        }
    }
    all.extend(std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with(MARKS) || (cfg!(windows) && OF_WINDOWS.contains(&&*name.to_uppercase()))
    }));
    all
}

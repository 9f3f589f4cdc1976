//! A private directory for the workloads' files, removed at the end.

use std::io;
use std::path::{Path, PathBuf};

/// Removes its directory when dropped; the supervisor holds it, so a worker that crashes or is
/// killed leaves nothing behind.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes a new directory in `parent`, or in the system's temporary directory.
    pub fn new(parent: Option<&Path>) -> io::Result<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        std::fs::create_dir_all(&parent)?;
        let name = format!(
            "pentathlon-{}-{:x}",
            std::process::id(),
            crate::clock::monotonic_ns()
        );
        let path = parent.join(name);
        std::fs::create_dir(&path)?;
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

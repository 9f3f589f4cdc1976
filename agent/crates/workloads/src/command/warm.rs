//! A program that ends at once, started just before a run. Between two runs a directory is made and
//! counters are read, and the kernel's code and data for the start and the end of a program leave the
//! caches; without it a short run would have to wait for them, and a run in a loop would not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The file of the program; none where it cannot be written.
pub struct Warm(Option<PathBuf>);

impl Warm {
    /// Writes the program into a directory.
    pub fn new(directory: &Path) -> Self {
        let path = directory.join("warm");
        Self(written(&path).then_some(path))
    }

    /// Starts the program and waits for its end, if the system starts it.
    pub fn up(&self) {
        if let Some(path) = &self.0 {
            let mut command = Command::new(path);
            command.env_clear().stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.status().ok();
        }
    }
}

#[cfg(unix)]
fn written(path: &Path) -> bool {
    use crate::process::program;
    use std::os::unix::fs::PermissionsExt;
    let Some(image) = program::image() else {
        return false;
    };
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::write(path, image).is_ok() && std::fs::set_permissions(path, mode).is_ok()
}

/// A start takes milliseconds there, and what this saves is a hundredth of one.
#[cfg(not(unix))]
fn written(_path: &Path) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::process::program;

    #[test]
    fn the_program_ends_with_its_own_status() {
        let directory = std::env::temp_dir().join(format!("warm-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        let warm = Warm::new(&directory);
        warm.up();
        let path = warm.0.as_ref().unwrap();
        let status = Command::new(path).status().unwrap();
        assert_eq!(status.code(), Some(program::STATUS));
        std::fs::remove_dir_all(&directory).unwrap();
        warm.up();
    }
}

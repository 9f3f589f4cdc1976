//! Trees of planted files for the tests of what reads files of a Unix system. It is a package and not a
//! feature of `inventory`: everything above that would be compiled with the feature and without it.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory of its own, removed at the end.
pub struct Tree(PathBuf);

impl Tree {
    pub fn empty() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "pentathlon-planted-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Plants a file, with its directories.
    pub fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.place(path);
        std::fs::write(path, text).unwrap();
        self
    }

    /// Plants a symbolic link.
    pub fn link(&self, path: &str, target: &str) -> &Self {
        std::os::unix::fs::symlink(target, self.place(path)).unwrap();
        self
    }

    pub fn directory(&self, path: &str) -> &Self {
        std::fs::create_dir_all(self.0.join(path)).unwrap();
        self
    }

    fn place(&self, path: &str) -> PathBuf {
        let path = self.0.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

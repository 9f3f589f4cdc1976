//! The directory that file workloads work in.
//!
//! The calls name their file without a directory, as the paper's do: otherwise the depth of the
//! scratch directory would be a part of the result.

use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::filesystem;
use std::path::{Path, PathBuf};

/// Makes a directory the current one until dropped.
pub struct Inside(PathBuf);

impl Inside {
    pub fn of(directory: &Path) -> Result<Self, Failure> {
        let before = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        std::env::set_current_dir(directory)
            .map_err(|e| Failure::system(&format!("entering {}", directory.display()), &e))?;
        Ok(Self(before))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        std::env::set_current_dir(&self.0).ok();
    }
}

/// Enters the scratch directory and records its file system, which decides the result.
pub fn enter_scratch(context: &mut Context<'_>) -> Result<Inside, Failure> {
    context.log(match filesystem::kind(&context.scratch) {
        Ok(kind) => format!("scratch file system: {kind}"),
        Err(error) => format!("scratch file system: not reported ({error})"),
    });
    Inside::of(&context.scratch)
}

/// Makes an empty file in the current directory.
pub fn make_empty(name: &str) -> Result<(), Failure> {
    std::fs::write(name, b"")
        .map_err(|e| Failure::system("making a file in the scratch directory", &e))
}

/// Proof that a file is there, is a file, and is empty.
pub fn is_empty_file(name: &str) -> Result<(), String> {
    match std::fs::symlink_metadata(name) {
        Ok(found) if found.is_file() && found.len() == 0 => Ok(()),
        Ok(found) => Err(format!(
            "the file has {} bytes and should be empty",
            found.len()
        )),
        Err(error) => Err(format!("the file should be there: {error}")),
    }
}

/// Proof that a name is gone.
pub fn is_gone(name: &str) -> Result<(), String> {
    match std::fs::symlink_metadata(name) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!(
            "whether the file is gone cannot be determined: {error}"
        )),
        Ok(_) => Err("the file should be gone and is there".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proofs_tell_an_empty_file_from_a_full_one_and_from_none() {
        let path = std::env::temp_dir().join(format!("pentathlon-proof-{}", std::process::id()));
        let name = path.to_str().unwrap();
        assert!(is_gone(name).is_ok() && is_empty_file(name).is_err());
        make_empty(name).unwrap();
        assert!(is_gone(name).is_err() && is_empty_file(name).is_ok());
        std::fs::write(name, b"x").unwrap();
        assert!(is_empty_file(name).unwrap_err().contains("1 bytes"));
        std::fs::remove_file(name).unwrap();
    }
}

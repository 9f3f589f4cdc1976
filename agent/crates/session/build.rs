//! Gives the build its identity: a hash over everything that decides what the agent does
//! (sources, manifest, lock file, compiler, target), so two results can be shown to come from
//! the same program without a version control system at hand.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let crates = root.parent().expect("it lies among the agent's crates");
    let workspace = crates.ancestors().nth(2).expect("they lie in a workspace");
    let mut files: Vec<PathBuf> = ["Cargo.toml", "Cargo.lock", ".cargo/config.toml"]
        .iter()
        .map(|name| workspace.join(name))
        .collect();
    for folder in std::fs::read_dir(crates).into_iter().flatten().flatten() {
        // What only tests use decides nothing.
        if folder.file_name() != "hostile" {
            files.extend(["Cargo.toml", "build.rs"].map(|name| folder.path().join(name)));
            collect(&folder.path().join("src"), &mut files);
        }
    }
    files.retain(|file| file.exists());
    files.sort();
    let mut hash = Sha256::new();
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        // Relative, so that the same sources give the same hash wherever they lie.
        let name = file.strip_prefix(workspace).unwrap_or(file);
        hash.update(name.to_string_lossy().as_bytes());
        hash.update(std::fs::read(file).unwrap_or_default());
    }
    println!("cargo:rerun-if-changed={}", crates.display());
    let sources = digest(hash.clone());
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok())
        .unwrap_or_else(|| "unknown".into());
    let target = std::env::var("TARGET").unwrap_or_default();
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    for text in [version.trim(), &target, &level, &flags] {
        hash.update(text.as_bytes());
    }
    println!("cargo:rustc-env=PENTATHLON_SOURCES={sources}");
    println!("cargo:rustc-env=PENTATHLON_BUILD={}", digest(hash));
    println!("cargo:rustc-env=PENTATHLON_RUSTC={}", version.trim());
    println!("cargo:rustc-env=PENTATHLON_TARGET={target}");
}

/// The first 16 hex digits.
fn digest(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

//! Gives the program a hash of its own sources: recorded with every result.

use std::path::Path;

fn main() {
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    assert!(
        system != "linux" || features.split(',').all(|one| one != "crt-static"),
        "a static program cannot load a graphics driver: build in graphics/, whose settings link \
         dynamically, and without +crt-static in RUSTFLAGS"
    );
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for place in ["src", "Cargo.toml", "Cargo.lock", "references.png"] {
        println!("cargo::rerun-if-changed={place}");
        add(Path::new(place), &mut hash);
    }
    println!("cargo::rustc-env=PENTATHLON_GRAPHICS_BUILD={hash:016x}");
}

/// FNV-1a over names and contents, in the order of the names.
fn add(path: &Path, hash: &mut u64) {
    let mut bytes = path.to_string_lossy().into_owned().into_bytes();
    if path.is_dir() {
        let mut inside: Vec<_> = std::fs::read_dir(path)
            .expect("a folder of this crate")
            .map(|entry| entry.expect("a file of this crate").path())
            .collect();
        inside.sort();
        inside.iter().for_each(|path| add(path, hash));
    } else {
        bytes.extend(std::fs::read(path).expect("a file of this crate"));
    }
    for byte in bytes {
        *hash = (*hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
}

//! Writes out the functions and compiles them at each level.
//!
//! Cargo can give every package its own opt-level, but link-time optimisation compiles all packages
//! again at the level of the whole program. So the compiler is called here, once per level, and
//! yields archives of finished machine code, which nothing touches afterwards.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

#[path = "src/constants.rs"]
mod constants;

/// Functions per level: enough for 1020 KiB on x86-64, where one has 1680 B of unoptimised (1629 B for
/// Windows) and 1056 B of optimised code.
const LEVELS: [(u32, usize); 4] = [(0, 656), (1, 1010), (2, 1010), (3, 1010)];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-env-changed=PENTATHLON_CODE");
    let how = std::env::var("PENTATHLON_CODE").unwrap_or_default();
    // A check of types for a system whose standard library is not there to compile against.
    let compiled = how != "none";
    // For tests of a system, which do not compare the levels: the code of the lowest stands for all.
    let alike = how == "unoptimised";
    let levels =
        LEVELS.map(|(level, functions)| (level, if alike { LEVELS[0].1 } else { functions }));
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets it"));
    let mut names = String::new();
    for (level, functions) in levels {
        writeln!(names, "pub const FUNCTIONS_O{level}: usize = {functions};").expect("a string");
    }
    let parts = if alike {
        vec![&levels[..]]
    } else {
        levels.chunks(1).collect()
    };
    let mut compilers = Vec::new();
    for part in parts.into_iter().filter(|_| compiled) {
        let level = part[0].0;
        let source = out.join(format!("o{level}.rs"));
        std::fs::write(&source, generate(part)).expect("OUT_DIR can be written to");
        // Not bundled with the library: link-time optimisation wants the bitcode of what is.
        println!("cargo:rustc-link-lib=static:-bundle=pentathlon_code_o{level}");
        compilers.push(compile(level, &source, &out));
    }
    for mut compiler in compilers {
        let status = compiler.wait().expect("the compiler was started");
        assert!(status.success(), "the code of a level does not compile");
    }
    println!("cargo:rustc-link-search=native={}", out.display());
    std::fs::write(out.join("counts.rs"), names).expect("OUT_DIR can be written to");
}

fn compile(level: u32, source: &Path, out: &Path) -> Child {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let target = std::env::var("TARGET").expect("cargo sets it");
    let name = format!("pentathlon_code_o{level}");
    // A library of Rust is an archive of object files, which is all that the linker wants.
    Command::new(rustc)
        .args(flags.split('\x1f').filter(|flag| !flag.is_empty()))
        .args(["--edition=2021", "--crate-type=rlib", "--crate-name"])
        .arg(&name)
        .args(["--target", &target])
        .args(["-C", &format!("opt-level={level}")])
        .args(["-C", "codegen-units=1", "-C", "panic=abort"])
        .args(["-C", "debuginfo=0", "-C", "embed-bitcode=no"])
        .args(["-C", "debug-assertions=off", "-C", "overflow-checks=off"])
        .arg("-o")
        .arg(out.join(format!("lib{name}.a")))
        .arg(source)
        .spawn()
        .expect("the compiler starts")
}

/// The loops that are compiled at every level, by the idea that they belong to.
const LOOPS: [&str; 5] = [
    include_str!("src/interface.rs"),
    include_str!("src/loops.rs"),
    include_str!("src/calls.rs"),
    include_str!("src/styles.rs"),
    include_str!("src/operations.rs"),
];

/// The source of levels with as many functions each: the loops, the functions, and for each level a
/// table of either.
fn generate(levels: &[(u32, usize)]) -> String {
    let functions = levels[0].1;
    // The loops change between types of one size, name no registers of another, and have a macro that
    // stands in unsafe code too.
    let mut text = String::from(
        "#![no_std]\n#![allow(unknown_lints, unnecessary_transmutes, asm_sub_register, unused_unsafe)]\n\
         use core::arch::asm;\n",
    );
    text.extend(LOOPS);
    let out = &mut text;
    for (level, _) in levels {
        writeln!(
            out,
            "#[no_mangle] pub static PENTATHLON_LOOPS_O{level}: Loops = Loops {{ write, read, getpid, \
             malloc_free, fopen_fclose, open_close, create_delete, fork_wait, inline, function, \
             recursion, forked, operations: operation::ALL }};"
        )
        .expect("a string");
    }
    for function in 0..functions {
        writeln!(out, "extern \"C\" fn f{function}(s: &mut [u64; 4]) {{").expect("a string");
        out.push_str("let [mut a, mut b, mut c, mut d] = *s;\n");
        for round in 0..constants::ROUNDS {
            for (lane, (own, next)) in [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
                .into_iter()
                .enumerate()
            {
                let constant = constants::constant(function, round, lane);
                writeln!(out, "{own} = ({own} ^ {constant}u64) + {next};").expect("a string");
            }
        }
        out.push_str("*s = [a, b, c, d];\n}\n");
    }
    for (level, _) in levels {
        write!(
            out,
            "#[no_mangle] pub static PENTATHLON_CODE_O{level}: [extern \"C\" fn(&mut [u64; 4]); \
             {functions}] = ["
        )
        .expect("a string");
        for function in 0..functions {
            write!(out, "f{function}, ").expect("a string");
        }
        out.push_str("];\n");
    }
    text
}

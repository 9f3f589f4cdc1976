//! What this binary is.

use pentathlon_protocol::{catalog, Build};

pub fn this() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION"),
        build: env!("PENTATHLON_BUILD"),
        sources: env!("PENTATHLON_SOURCES"),
        target: env!("PENTATHLON_TARGET"),
        rustc: env!("PENTATHLON_RUSTC"),
        catalog_version: catalog::VERSION,
        is_static: cfg!(target_feature = "crt-static"),
        debug_assertions: cfg!(debug_assertions),
    }
}

//! What a binary is: recorded with every result, because two builds are not comparable.

use schemars::JsonSchema;
use serde::Serialize;

/// Identity of the agent that produced a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Build {
    pub version: &'static str,
    /// Hash over sources, manifest, lock file, compiler and target (16 hex digits).
    pub build: &'static str,
    /// Hash over the sources alone: programs that share it speak alike, however they are linked.
    pub sources: &'static str,
    pub target: &'static str,
    pub rustc: &'static str,
    pub catalog_version: u32,
    /// Whether the C library is linked in, so that the file runs in an empty root.
    #[serde(rename = "static")]
    pub is_static: bool,
    /// Whether it was built for tests: with debug assertions, and slower than a released agent.
    pub debug_assertions: bool,
}

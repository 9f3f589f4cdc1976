//! `process.fopen_fclose`: opening and closing an existing file through the C library.

use super::calls;
use super::{directory, entry};
use crate::opt_level;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::stdio;
use pentathlon_protocol::catalog::{self, Semantics};
use pentathlon_protocol::Case;

pub struct FopenFclose;

const NAME: &str = "temp";

impl pentathlon_harness::Workload for FopenFclose {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.fopen_fclose",
            title: "fopen and fclose of a file",
            summary:
                "An existing empty file in the scratch directory is opened for writing, which \
                      truncates it, and closed, by the C library's streams.",
            source: entry::CALLS,
            parameters: vec![opt_level::parameter(&opt_level::OWN)],
            factors: vec![opt_level::factor()],
            metrics: entry::time("Time per fopen and fclose"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux:
                    "fopen(3) with mode \"w\" and fclose(3) of the C library that the agent was \
                        linked with; the file system of the scratch directory decides the result",
                windows: "fopen and fclose of the C run-time library",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let _inside = directory::enter_scratch(context)?;
        directory::make_empty(NAME)?;
        for level in opt_level::chosen(context) {
            let case = Case::new().with("opt_level", level.name);
            let calls = |operations| {
                stdio::open_close(level, operations, c"temp", c"w")
                    .map_err(|ended| Failure::system("fopen and fclose", &ended.error))
            };
            calls::measure_loop(context, &case, calls, || directory::is_empty_file(NAME));
        }
        std::fs::remove_file(NAME).ok();
        Ok(())
    }
}

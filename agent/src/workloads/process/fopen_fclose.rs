//! `process.fopen_fclose`: opening and closing an existing file through the C library.

use super::calls::Calls;
use super::{directory, entry};
use crate::catalog::{self, Semantics};
use crate::measure::{Context, Failure};
use crate::protocol::Case;
use crate::sys::stdio;

pub struct FopenFclose;

const NAME: &str = "temp";

impl crate::workloads::Workload for FopenFclose {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.fopen_fclose",
            area: entry::AREA,
            title: "fopen and fclose of a file",
            summary:
                "An existing empty file in the scratch directory is opened for writing, which \
                      truncates it, and closed, by the C library's streams.",
            source: entry::CALLS,
            parameters: vec![],
            factors: vec![],
            indicators: entry::time("Time per fopen and fclose"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux:
                    "fopen(3) with mode \"w\" and fclose(3) of the C library that the agent was \
                        linked with; the file system of the scratch directory decides the result",
                windows: "fopen and fclose of the C run-time library",
            },
            test_only: false,
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let _inside = directory::enter_scratch(context)?;
        directory::make_empty(NAME)?;
        let call = || {
            stdio::open_close(c"temp", c"w")
                .map_err(|e| Failure::system("fopen and fclose", &e))?;
            Ok(true)
        };
        let mut body = Calls::new(call, || directory::is_empty_file(NAME));
        context.measure("time", &Case::new(), entry::PER_CALL, &mut body);
        std::fs::remove_file(NAME).ok();
        Ok(())
    }
}

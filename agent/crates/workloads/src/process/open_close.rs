//! `process.open_close`: opening and closing an existing file by its descriptor.

use super::calls;
use super::{directory, entry};
use crate::opt_level;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::descriptor;
use pentathlon_protocol::catalog::{self, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct OpenClose;

const NAME: &str = "temp";

impl pentathlon_harness::Workload for OpenClose {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.open_close",
            title: "open and close of a file",
            summary: "An existing empty file in the scratch directory is opened and closed.",
            source: entry::CALLS,
            parameters: vec![
                Parameter::text("flags", "paper")
                    .choices(&["paper", "read_only"])
                    .described("paper: O_RDWR|O_SYNC|O_CREAT; read_only: O_RDONLY"),
                opt_level::parameter(&opt_level::OWN),
            ],
            factors: vec![opt_level::factor()],
            metrics: entry::time("Time per open and close"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux:
                    "open(2) and close(2); nothing is written, so O_SYNC waits for no disk; the \
                        file system of the scratch directory decides the result",
                windows:
                    "CreateFile and CloseHandle: OPEN_ALWAYS with FILE_FLAG_WRITE_THROUGH for the \
                          paper's flags, GENERIC_READ with OPEN_EXISTING for read_only",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let flags = match context.parameters.text("flags") {
            "read_only" => descriptor::READ_ONLY,
            _ => descriptor::READ_WRITE | descriptor::SYNCHRONOUS | descriptor::CREATE,
        };
        let name = descriptor::name(NAME);
        let _inside = directory::enter_scratch(context)?;
        directory::make_empty(NAME)?;
        for level in opt_level::chosen(context) {
            let case = Case::new().with("opt_level", level.name);
            let calls = |operations| {
                descriptor::open_close(level, operations, &name, flags)
                    .map_err(|ended| Failure::system("open and close", &ended.error))
            };
            calls::measure_loop(context, &case, calls, || directory::is_empty_file(NAME));
        }
        std::fs::remove_file(NAME).ok();
        Ok(())
    }
}

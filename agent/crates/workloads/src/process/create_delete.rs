//! `process.create_delete`: making a file and removing it.

use super::calls;
use super::{directory, entry};
use crate::opt_level;
use pentathlon_harness::measure::{Context, Failure};
use pentathlon_os::descriptor;
use pentathlon_protocol::catalog::{self, Factor, Parameter, Semantics};
use pentathlon_protocol::Case;

pub struct CreateDelete;

const NAME: &str = "temp";
/// After opening and closing.
const REMOVAL: u32 = 3;
const MODES: &[&str] = &["default", "synchronous"];

impl pentathlon_harness::Workload for CreateDelete {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.create_delete",
            title: "Create and delete a file",
            summary: "A new empty file is made in the scratch directory, closed and removed.",
            source: entry::CALLS,
            parameters: vec![
                Parameter::texts_of("mode", MODES).described(
                    "default: opened with O_RDWR|O_CREAT; synchronous: also with O_SYNC, as in the \
                     paper",
                ),
                opt_level::parameter(&opt_level::OWN),
            ],
            factors: vec![Factor::category("mode", "mode"), opt_level::factor()],
            metrics: entry::time("Time per create and delete"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "open(2) with O_RDWR|O_CREAT or O_RDWR|O_SYNC|O_CREAT, close(2), unlink(2); nothing is \
                        written, so O_SYNC waits for no disk, and directory changes reach the disk \
                        later; the file system of the scratch directory decides the result",
                windows: "CreateFile with OPEN_ALWAYS (with FILE_FLAG_WRITE_THROUGH for O_SYNC), \
                          CloseHandle, DeleteFile",
            },
        }
    }

    fn buffers(&self) -> u8 {
        1
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let name = descriptor::name(NAME);
        let _inside = directory::enter_scratch(context)?;
        directory::is_gone(NAME).map_err(Failure::Failed)?;
        for mode in context.parameters.clone().texts("mode") {
            let sync = if mode == MODES[1] {
                descriptor::SYNCHRONOUS
            } else {
                0
            };
            let flags = descriptor::READ_WRITE | sync | descriptor::CREATE;
            // A file that could be removed had been made, and after that the next one is new.
            for level in opt_level::chosen(context) {
                let calls = |operations| {
                    let made = descriptor::create_delete(level, operations, &name, flags);
                    made.map_err(|ended| {
                        let what = if ended.call == REMOVAL {
                            "removing a file"
                        } else {
                            "making a file"
                        };
                        Failure::system(what, &ended.error)
                    })
                };
                let case = Case::new().with("mode", mode).with("opt_level", level.name);
                calls::measure_loop(context, &case, calls, || directory::is_gone(NAME));
            }
        }
        std::fs::remove_file(NAME).ok();
        Ok(())
    }
}

//! `process.create_delete`: making a file and removing it.

use super::calls::Calls;
use super::{directory, entry};
use crate::catalog::{self, Parameter, Semantics, Type};
use crate::measure::{Context, Failure};
use crate::protocol::Case;
use crate::sys::descriptor;
use serde_json::json;

pub struct CreateDelete;

const NAME: &str = "temp";

impl crate::workloads::Workload for CreateDelete {
    fn describe(&self) -> catalog::Workload {
        catalog::Workload {
            id: "process.create_delete",
            area: entry::AREA,
            title: "Create and delete a file",
            summary: "A new empty file is made in the scratch directory, closed and removed.",
            source: entry::CALLS,
            parameters: vec![Parameter {
                name: "sync",
                kind: Type::Boolean,
                default: json!(true),
                unit: None,
                minimum: None,
                maximum: None,
                choices: None,
                description: "whether the file is opened with O_SYNC, as in the paper",
            }],
            factors: vec![],
            indicators: entry::time("Time per create and delete"),
            checksum: entry::ONE_CORRECT_CALL,
            semantics: Semantics {
                linux: "open(2) with O_RDWR|O_SYNC|O_CREAT, close(2), unlink(2); nothing is \
                        written, so O_SYNC waits for no disk, and directory changes reach the disk \
                        later; the file system of the scratch directory decides the result",
                windows: "CreateFile with OPEN_ALWAYS (with FILE_FLAG_WRITE_THROUGH for O_SYNC), \
                          CloseHandle, DeleteFile",
            },
            test_only: false,
        }
    }

    fn run(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let sync = if context.parameters.boolean("sync") {
            descriptor::SYNCHRONOUS
        } else {
            0
        };
        let flags = descriptor::READ_WRITE | sync | descriptor::CREATE;
        let name = descriptor::name(NAME);
        let _inside = directory::enter_scratch(context)?;
        directory::is_gone(NAME).map_err(Failure::Failed)?;
        // A file that could be removed had been made, and after that the next one is new.
        let call = || {
            descriptor::open_close(&name, flags)
                .map_err(|e| Failure::system("making a file", &e))?;
            descriptor::unlink(&name).map_err(|e| Failure::system("removing a file", &e))?;
            Ok(true)
        };
        let mut body = Calls::new(call, || directory::is_gone(NAME));
        context.measure("time", &Case::new(), entry::PER_CALL, &mut body);
        std::fs::remove_file(NAME).ok();
        Ok(())
    }
}

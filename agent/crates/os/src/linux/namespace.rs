//! Network namespaces other than this process' own: `setns(2)`.

use rustix::thread::{move_into_link_name_space, LinkNameSpaceType};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// Does something in a network namespace, which the file `namespace` is (network_namespaces(7));
/// in this process' own if there is none. Sockets that it opens stay in that namespace.
///
/// A thread belongs to a namespace, so it happens in a thread that ends with it. Needs
/// CAP_SYS_ADMIN.
pub fn inside<T: Send>(
    namespace: Option<&Path>,
    what: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let Some(path) = namespace else {
        return what();
    };
    let file = File::open(path)?;
    let there = move || {
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
        what()
    };
    std::thread::scope(|scope| match scope.spawn(there).join() {
        Ok(outcome) => outcome,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

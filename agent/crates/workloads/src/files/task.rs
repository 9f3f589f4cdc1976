//! The catalog's entries of the tasks with files.

use super::metrics::{metrics, CONTEXT, MAY_BE_ZERO};
use super::parameters::parameters;
use pentathlon_protocol::catalog::{self, Factor, Semantics};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Copy,
    Open,
    Roaming,
    Portal,
}

pub struct Task(pub Kind);

impl pentathlon_harness::BetweenHosts for Task {
    fn describe(&self) -> catalog::Workload {
        let (id, title, summary, source) = match self.0 {
            Kind::Copy => (
                "files.copy",
                "Copy a document from a server",
                "A client copies one document from a file server at the other end of an emulated \
                 link, and the bytes are compared.",
                "tolly2007, Fig. 1 and appendix B: SMB copy file",
            ),
            Kind::Open => (
                "files.open",
                "Open a document on a server",
                "A client opens a document where it lies, as an office program does: it locks it \
                 against others, reads it in many small pieces, and closes it.",
                "tolly2007, Fig. 2 and appendix B: SMB open file",
            ),
            Kind::Roaming => (
                "files.roaming",
                "Fetch a roaming profile",
                "A client fetches a tree of many small and some large files, as at log-on.",
                "tolly2007, Fig. 3 and appendix B: roaming profile",
            ),
            Kind::Portal => (
                "files.portal",
                "Open a document from a portal",
                "A client shows a document of a web server's folder that it may not change: OPTIONS, \
                 PROPFIND, GET (RFC 4918), over one connection.",
                "tolly2007, Fig. 4 and appendix B: SharePoint open file",
            ),
        };
        catalog::Workload {
            id,
            title,
            summary,
            source,
            parameters: parameters(self.0),
            factors: FACTORS.to_vec(),
            metrics: metrics(),
            checksum: "SHA-256 of what the client got, its first 64 bits: it is what the server \
                       holds, made from the study's seed",
            semantics: Semantics {
                linux: "programs of the system, such as smbclient, curl and sftp, in a network \
                        namespace",
                windows: "both ends are Linux",
            },
        }
    }

    /// Of one trial; its limit follows from its link and its bytes, and is no longer than this.
    fn timeout_s(&self) -> Option<f64> {
        Some(7200.0)
    }

    fn may_be_zero(&self) -> &'static [&'static str] {
        MAY_BE_ZERO
    }

    fn context(&self) -> &'static [&'static str] {
        CONTEXT
    }
}

const FACTORS: [Factor; 8] = [
    Factor::category("link", "link"),
    Factor::category("protocol", "protocol"),
    Factor::category("state", "state"),
    Factor::new("document_bytes", "document", Some("B"), "log2"),
    Factor::new("window_bytes", "receive buffer", Some("B"), "log2"),
    Factor::new("outstanding", "requests in flight", None, "log2"),
    Factor::category("congestion", "congestion control"),
    Factor::new("buffer_bytes", "server's buffer", Some("B"), "log2"),
];

//! The parameters of the tasks with files.

use super::task::Kind;
use pentathlon_protocol::catalog::Parameter;

/// SMB by its generations ([MS-SMB2] 1.7), `smb` being the newest that both ends speak.
const SMB: [&str; 5] = ["smb", "smb1", "smb2.0", "smb2.1", "smb3.1.1"];
const HTTP: [&str; 3] = ["http1.1", "http2", "http3"];

pub fn parameters(kind: Kind) -> Vec<Parameter> {
    let mut all = vec![
        Parameter::texts("links", &["wan-10m-50ms"]).described(
            "profiles of the emulated link, by name or as the path of a file (docs/link.md); \
             `none` is a plain cable",
        ),
        Parameter::texts("protocols", &[protocols(kind)[0]])
            .choices(&protocols(kind))
            .described(
                "how the files are fetched; `smb` is the newest generation that both ends speak",
            ),
        Parameter::integers("document_bytes", &[10_485_760])
            .unit("B")
            .limits(1024.0, 1e9)
            .described(match kind {
                Kind::Roaming => "all files of the profile together",
                _ => "length of the document",
            }),
        Parameter::texts("states", &["cold"])
            .choices(&["cold", "warm"])
            .described(
                "`cold`: the server has just started and has read nothing; `warm`: the same task \
                 was done just before",
            ),
        Parameter::integers("window_bytes", &[0])
            .unit("B")
            .limits(0.0, 1e9)
            .described("limit of the client's receive buffer; 0: that of its behaviour"),
        Parameter::integers("outstanding", &[0])
            .limits(0.0, 8192.0)
            .described(
                "requests in flight: those that an SMB server grants (credits, mux), READs of a \
                 client of SFTP or NFS; 0: that of the behaviours",
            ),
        Parameter::texts("congestion", &["own"])
            .described("congestion control of both ends; `own`: that of their behaviours"),
        Parameter::boolean("keep_captures", false)
            .described("whether the packets of each trial are kept in the result, as pcapng"),
    ];
    if kind == Kind::Roaming {
        all.push(
            Parameter::integer("files", 120)
                .limits(2.0, 10_000.0)
                .described("files of the profile, in a tree of directories"),
        );
    }
    if kind == Kind::Portal {
        all.push(
            Parameter::integers("buffer_bytes", &[0])
                .unit("B")
                .limits(0.0, 1e9)
                .described(
                    "send buffer of the server, as the study's MaxBytesPerSend; 0: that of its \
                     behaviour",
                ),
        );
    }
    all
}

fn protocols(kind: Kind) -> Vec<&'static str> {
    match kind {
        Kind::Copy => SMB.into_iter().chain(["sftp", "nfs"]).chain(HTTP).collect(),
        Kind::Open => SMB.into_iter().chain(["nfs"]).collect(),
        Kind::Roaming => SMB.into_iter().chain(["sftp", "nfs"]).collect(),
        Kind::Portal => HTTP.to_vec(),
    }
}

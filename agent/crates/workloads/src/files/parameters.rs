//! The parameters of the tasks with files.

use super::task::Kind;
use pentathlon_protocol::catalog::{parameter, Parameter, Type};
use serde_json::json;

/// SMB by its generations ([MS-SMB2] 1.7), `smb` being the newest that both ends speak.
const SMB: [&str; 5] = ["smb", "smb1", "smb2.0", "smb2.1", "smb3.1.1"];
const HTTP: [&str; 3] = ["http1.1", "http2", "http3"];

pub fn parameters(kind: Kind) -> Vec<Parameter> {
    let mut all = vec![
        parameter(
            "links",
            Type::Texts,
            json!(["wan-10m-50ms"]),
            None,
            None,
            "profiles of the emulated link, by name or as the path of a file (docs/link.md); \
             `none` is a plain cable",
        ),
        Parameter {
            choices: Some(protocols(kind)),
            ..parameter(
                "protocols",
                Type::Texts,
                json!([protocols(kind)[0]]),
                None,
                None,
                "how the files are fetched; `smb` is the newest generation that both ends speak",
            )
        },
        parameter(
            "document_bytes",
            Type::Integers,
            json!([10_485_760]),
            Some("B"),
            Some((1024.0, 1e9)),
            match kind {
                Kind::Roaming => "all files of the profile together",
                _ => "length of the document",
            },
        ),
        Parameter {
            choices: Some(vec!["cold", "warm"]),
            ..parameter(
                "states",
                Type::Texts,
                json!(["cold"]),
                None,
                None,
                "`cold`: the server has just started and has read nothing; `warm`: the same task \
                 was done just before",
            )
        },
        parameter(
            "window_bytes",
            Type::Integers,
            json!([0]),
            Some("B"),
            Some((0.0, 1e9)),
            "limit of the client's receive buffer; 0: that of its behaviour",
        ),
        parameter(
            "outstanding",
            Type::Integers,
            json!([0]),
            None,
            Some((0.0, 8192.0)),
            "requests in flight: those that an SMB server grants (credits, mux), READs of a \
                 client of SFTP or NFS; 0: that of the behaviours",
        ),
        parameter(
            "congestion",
            Type::Texts,
            json!(["own"]),
            None,
            None,
            "congestion control of both ends; `own`: that of their behaviours",
        ),
        parameter(
            "keep_captures",
            Type::Boolean,
            json!(false),
            None,
            None,
            "whether the packets of each trial are kept in the result, as pcapng",
        ),
    ];
    if kind == Kind::Roaming {
        all.push(parameter(
            "files",
            Type::Integer,
            json!(120),
            None,
            Some((2.0, 10_000.0)),
            "files of the profile, in a tree of directories",
        ));
    }
    if kind == Kind::Portal {
        all.push(parameter(
            "buffer_bytes",
            Type::Integers,
            json!([0]),
            Some("B"),
            Some((0.0, 1e9)),
            "send buffer of the server, as the study's MaxBytesPerSend; 0: that of its \
                 behaviour",
        ));
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

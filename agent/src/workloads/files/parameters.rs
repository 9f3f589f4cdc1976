//! The parameters of the tasks with files.

use super::task::Kind;
use crate::catalog::{Parameter, Type};
use serde_json::{json, Value};

/// SMB by its generations ([MS-SMB2] 1.7), `smb` being the newest that both ends speak.
const SMB: [&str; 5] = ["smb", "smb1", "smb2.0", "smb2.1", "smb3.1.1"];
const HTTP: [&str; 3] = ["http1.1", "http2", "http3"];

fn plain(
    name: &'static str,
    kind: Type,
    default: Value,
    unit: Option<&'static str>,
    description: &'static str,
) -> Parameter {
    Parameter {
        name,
        kind,
        default,
        unit,
        minimum: None,
        maximum: None,
        choices: None,
        description,
    }
}

fn limits(minimum: f64, maximum: f64, parameter: Parameter) -> Parameter {
    Parameter {
        minimum: Some(minimum),
        maximum: Some(maximum),
        ..parameter
    }
}

pub fn parameters(kind: Kind) -> Vec<Parameter> {
    let mut all = vec![
        plain(
            "links",
            Type::Texts,
            json!(["wan-10m-50ms"]),
            None,
            "profiles of the emulated link, by name or as the path of a file (docs/link.md); \
             `none` is a plain cable",
        ),
        Parameter {
            choices: Some(protocols(kind)),
            ..plain(
                "protocols",
                Type::Texts,
                json!([protocols(kind)[0]]),
                None,
                "how the files are fetched; `smb` is the newest generation that both ends speak",
            )
        },
        limits(
            1024.0,
            1e9,
            plain(
                "document_bytes",
                Type::Integers,
                json!([10_485_760]),
                Some("B"),
                match kind {
                    Kind::Roaming => "all files of the profile together",
                    _ => "length of the document",
                },
            ),
        ),
        Parameter {
            choices: Some(vec!["cold", "warm"]),
            ..plain(
                "states",
                Type::Texts,
                json!(["cold"]),
                None,
                "`cold`: the server has just started and has read nothing; `warm`: the same task \
                 was done just before",
            )
        },
        limits(
            0.0,
            1e9,
            plain(
                "window_bytes",
                Type::Integers,
                json!([0]),
                Some("B"),
                "limit of the client's receive buffer; 0: that of its behaviour",
            ),
        ),
        limits(
            0.0,
            8192.0,
            plain(
                "outstanding",
                Type::Integers,
                json!([0]),
                None,
                "requests in flight: those that an SMB server grants (credits, mux), READs of a \
                 client of SFTP or NFS; 0: that of the behaviours",
            ),
        ),
        plain(
            "congestion",
            Type::Texts,
            json!(["own"]),
            None,
            "congestion control of both ends; `own`: that of their behaviours",
        ),
        plain(
            "keep_captures",
            Type::Boolean,
            json!(false),
            None,
            "whether the packets of each trial are kept in the result, as pcapng",
        ),
    ];
    if kind == Kind::Roaming {
        all.push(limits(
            2.0,
            10_000.0,
            plain(
                "files",
                Type::Integer,
                json!(120),
                None,
                "files of the profile, in a tree of directories",
            ),
        ));
    }
    if kind == Kind::Portal {
        all.push(limits(
            0.0,
            1e9,
            plain(
                "buffer_bytes",
                Type::Integers,
                json!([0]),
                Some("B"),
                "send buffer of the server, as the study's MaxBytesPerSend; 0: that of its \
                 behaviour",
            ),
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

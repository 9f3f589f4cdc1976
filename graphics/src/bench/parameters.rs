//! The parameters of every graphics workload.

use crate::gpu::choose::APIS;
use crate::scene::Order;
use pentathlon_protocol::catalog::{parameter, Parameter, Parameters, Type};
use serde_json::json;

/// How the references were drawn.
pub const REFERENCE: Order = Order {
    width: 1280,
    height: 1024,
    scale: 1.0,
    seed: SEED,
};
/// The seed of every scene: the same pictures in every study, whatever its own seed.
const SEED: u64 = 2011;

/// Values of the parameter `surface`.
const SURFACES: [&str; 2] = ["offscreen", "window"];

/// Which of the cases of a workload are drawn: all of them where nothing is requested.
pub fn cases(
    name: &'static str,
    choices: Vec<&'static str>,
    description: &'static str,
) -> Parameter {
    Parameter {
        choices: Some(choices.clone()),
        ..parameter(name, Type::Texts, json!(choices), None, None, description)
    }
}

/// The parameters that all of them have.
pub fn common() -> Vec<Parameter> {
    vec![
        Parameter {
            choices: Some(APIS.iter().map(|(name, _)| *name).collect()),
            ..parameter(
                "api",
                Type::Text,
                json!("any"),
                None,
                None,
                "programming interface of the driver; any takes the strongest adapter",
            )
        },
        parameter(
            "adapter",
            Type::Text,
            json!(""),
            None,
            None,
            "a part of the name of the adapter or its driver; empty takes the first",
        ),
        Parameter {
            choices: Some(SURFACES.to_vec()),
            ..parameter(
                "surface",
                Type::Text,
                json!(SURFACES[0]),
                None,
                None,
                "where frames go: offscreen keeps them in a picture that is read back; window shows \
                 each of them in a window, where the last one is looked at",
            )
        },
        parameter(
            "width",
            Type::Integer,
            json!(REFERENCE.width),
            Some("pixels"),
            Some((64.0, 8192.0)),
            "width of the canvas",
        ),
        parameter(
            "height",
            Type::Integer,
            json!(REFERENCE.height),
            Some("pixels"),
            Some((64.0, 8192.0)),
            "height of the canvas",
        ),
        parameter(
            "scale",
            Type::Number,
            json!(1.0),
            None,
            Some((0.25, 400.0)),
            "work of a frame: 1 suits a software rasteriser, 16 to 256 a graphics card (triangles, \
             layers and particles grow by this factor)",
        ),
    ]
}

/// Size of the window in which frames are to be shown, if they are.
pub fn window(parameters: &Parameters) -> Option<(u32, u32)> {
    let Order { width, height, .. } = order(parameters);
    (parameters.text("surface") == SURFACES[1]).then_some((width, height))
}

/// What a request contains.
pub fn order(parameters: &Parameters) -> Order {
    Order {
        width: parameters.integer("width") as u32,
        height: parameters.integer("height") as u32,
        scale: parameters.number("scale"),
        seed: SEED,
    }
}

//! Where the eye is and what it sees: the uniform that all shaders share.

use glam::camera::rh::proj::directx as proj;
use glam::camera::rh::view::look_at_mat4;
use glam::{Mat4, Vec3, Vec4};

/// The ratio of the sides of 1280x1024. A canvas of another ratio shows the same, stretched, so
/// that every size can be compared with the reference.
const RATIO: f32 = 1.25;

#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Eye {
    pub view: Mat4,
    pub place: Vec4,
    pub a: Vec4,
    pub b: Vec4,
}

/// An eye at `from` that looks at `to` through an angle of `degrees` (vertical).
pub fn eye(from: Vec3, to: Vec3, degrees: f32, a: Vec4, b: Vec4) -> Eye {
    let projection = proj::perspective(degrees.to_radians(), RATIO, 0.05, 50.0);
    Eye {
        view: projection * look_at_mat4(from, to, Vec3::Y),
        place: from.extend(1.0),
        a,
        b,
    }
}

/// What a light far away sees of the square from -1.6 to 1.6.
pub fn light(from: Vec3) -> Mat4 {
    proj::orthographic(-1.6, 1.6, -1.6, 1.6, 0.1, 12.0) * look_at_mat4(from, Vec3::ZERO, Vec3::Y)
}

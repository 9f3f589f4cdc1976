@group(0) @binding(0) var canvas: texture_2d<f32>;
@group(0) @binding(1) var<uniform> number: vec4<u32>;

// The canvas as it is, and over its upper left corner the frame's number: sixteen squares of four
// pixels, the lowest bit first, white for 1.
@fragment
fn shown(in: Screen) -> @location(0) vec4<f32> {
    let at = vec2<u32>(in.position.xy);
    if at.y < 4u && at.x < 64u {
        return vec4<f32>(vec3<f32>(f32((number.x >> (at.x / 4u)) & 1u)), 1.0);
    }
    return vec4<f32>(textureLoad(canvas, at, 0).rgb, 1.0);
}

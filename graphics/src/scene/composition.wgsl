@group(0) @binding(0) var smooth_: sampler;
@group(0) @binding(1) var face: texture_2d<f32>;
// Lower left corner, width and height, in the canvas from -1 to 1.
@group(0) @binding(2) var<uniform> place: vec4<f32>;

@vertex
fn window(@builtin(vertex_index) number: u32) -> Screen {
    let index = select(number, number - 2u, number > 2u);
    let corner = vec2<f32>(f32(index & 1u), f32(index >> 1u));
    var out: Screen;
    out.position = vec4<f32>(place.xy + corner * place.zw, 0.0, 1.0);
    out.uv = vec2<f32>(corner.x, 1.0 - corner.y);
    return out;
}

@fragment
fn translucent(in: Screen) -> @location(0) vec4<f32> {
    return textureSample(face, smooth_, in.uv);
}

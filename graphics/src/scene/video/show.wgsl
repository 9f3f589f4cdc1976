@group(0) @binding(0) var smooth_: sampler;
@group(0) @binding(1) var luma: texture_2d<f32>;
@group(0) @binding(2) var blue: texture_2d<f32>;
@group(0) @binding(3) var red: texture_2d<f32>;

// Limited range to RGB (ITU-R BT.601-7, 2.5.1).
@fragment
fn show(in: Screen) -> @location(0) vec4<f32> {
    let y = (textureSample(luma, smooth_, in.uv).r - 16.0 / 255.0) * 255.0 / 219.0;
    let b = (textureSample(blue, smooth_, in.uv).r - 128.0 / 255.0) * 255.0 / 224.0;
    let r = (textureSample(red, smooth_, in.uv).r - 128.0 / 255.0) * 255.0 / 224.0;
    return vec4<f32>(y + 1.402 * r, y - 0.344136 * b - 0.714136 * r, y + 1.772 * b, 1.0);
}

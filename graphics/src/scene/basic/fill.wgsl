@group(0) @binding(0) var smooth_: sampler;
@group(0) @binding(1) var t0: texture_2d<f32>;
@group(0) @binding(2) var t1: texture_2d<f32>;
@group(0) @binding(3) var t2: texture_2d<f32>;
@group(0) @binding(4) var t3: texture_2d<f32>;
@group(0) @binding(5) var t4: texture_2d<f32>;
@group(0) @binding(6) var t5: texture_2d<f32>;
@group(0) @binding(7) var t6: texture_2d<f32>;
@group(0) @binding(8) var t7: texture_2d<f32>;

// Half of each layer is seen, so that any number of layers above a few gives the same picture.
@fragment
fn single(in: Screen) -> @location(0) vec4<f32> {
    return vec4<f32>(textureSample(t0, smooth_, in.uv).rgb, 0.5);
}

@fragment
fn multi(in: Screen) -> @location(0) vec4<f32> {
    var sum = textureSample(t0, smooth_, in.uv).rgb;
    sum += textureSample(t1, smooth_, in.uv * 1.1).rgb;
    sum += textureSample(t2, smooth_, in.uv * 1.2).rgb;
    sum += textureSample(t3, smooth_, in.uv * 1.3).rgb;
    sum += textureSample(t4, smooth_, in.uv * 1.4).rgb;
    sum += textureSample(t5, smooth_, in.uv * 1.5).rgb;
    sum += textureSample(t6, smooth_, in.uv * 1.6).rgb;
    sum += textureSample(t7, smooth_, in.uv * 1.7).rgb;
    return vec4<f32>(sum / 8.0, 0.5);
}

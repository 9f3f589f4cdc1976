@group(0) @binding(0) var smooth_: sampler;
@group(0) @binding(1) var source: texture_2d<f32>;
@group(0) @binding(2) var bloom: texture_2d<f32>;

// What is brighter than white, at a quarter of the size.
@fragment
fn bright(in: Screen) -> @location(0) vec4<f32> {
    let size = 1.0 / vec2<f32>(textureDimensions(source));
    var sum = vec3<f32>(0.0);
    for (var y = 0; y < 2; y++) {
        for (var x = 0; x < 2; x++) {
            let offset = (vec2<f32>(f32(x), f32(y)) * 2.0 - 1.0) * size;
            sum += min(textureSampleLevel(source, smooth_, in.uv + offset, 0.0).rgb, vec3<f32>(24.0));
        }
    }
    return vec4<f32>(max(sum / 4.0 - 1.0, vec3<f32>(0.0)), 1.0);
}

fn blurred(uv: vec2<f32>, way: vec2<f32>) -> vec4<f32> {
    let size = way / vec2<f32>(textureDimensions(source));
    var sum = vec3<f32>(0.0);
    var weight = 0.0;
    for (var tap = -6; tap <= 6; tap++) {
        let share = exp(-f32(tap * tap) / 14.0);
        sum += textureSampleLevel(source, smooth_, uv + size * f32(tap), 0.0).rgb * share;
        weight += share;
    }
    return vec4<f32>(sum / weight, 1.0);
}

@fragment
fn across(in: Screen) -> @location(0) vec4<f32> {
    return blurred(in.uv, vec2<f32>(1.0, 0.0));
}

@fragment
fn down(in: Screen) -> @location(0) vec4<f32> {
    return blurred(in.uv, vec2<f32>(0.0, 1.0));
}

// Bright to white without a hard end (Reinhard and others 2002, eq. 4), then the curve of a screen.
@fragment
fn tone(in: Screen) -> @location(0) vec4<f32> {
    let color = textureSampleLevel(source, smooth_, in.uv, 0.0).rgb
        + 0.5 * textureSampleLevel(bloom, smooth_, in.uv, 0.0).rgb;
    let luminance = dot(color, vec3<f32>(0.2126, 0.7152, 0.0722)) * 0.8;
    let shown = luminance * (1.0 + luminance / 16.0) / (1.0 + luminance);
    let mapped = color * 0.8 * shown / max(luminance, 1e-4);
    return vec4<f32>(pow(clamp(mapped, vec3<f32>(0.0), vec3<f32>(1.0)), vec3<f32>(1.0 / 2.2)), 1.0);
}

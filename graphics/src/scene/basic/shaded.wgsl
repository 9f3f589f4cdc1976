@group(0) @binding(0) var<uniform> own: vec4<f32>;

fn height(at: vec2<f32>) -> f32 {
    return fractal(vec3<f32>(at, own.x), 4);
}

// A rough rock face, lit from the left above with a highlight that follows its slopes.
@fragment
fn rock(in: Screen) -> @location(0) vec4<f32> {
    let at = in.uv * vec2<f32>(10.0, 8.0);
    let step = 0.01;
    let here = height(at);
    let slope = vec2<f32>(height(at + vec2<f32>(step, 0.0)), height(at + vec2<f32>(0.0, step))) - here;
    let normal = normalize(vec3<f32>(-slope / step * 0.6, 1.0));
    let share = lit(normal, vec3<f32>(0.0, 0.0, 1.0), normalize(vec3<f32>(-0.6, -0.5, 0.6)), 32.0);
    let stone = mix(vec3<f32>(0.32, 0.24, 0.2), vec3<f32>(0.75, 0.68, 0.6), here + 0.5);
    return vec4<f32>(stone * (0.1 + share.x) + 0.4 * share.y, 1.0);
}

@fragment
fn clouds(in: Screen) -> @location(0) vec4<f32> {
    let at = in.uv * vec2<f32>(5.0, 4.0);
    let warp = fractal(vec3<f32>(at * 1.3, own.x + 7.0), 4);
    let thick = smoothstep(-0.1, 0.45, fractal(vec3<f32>(at + warp, own.x), 8));
    let sky = mix(vec3<f32>(0.2, 0.42, 0.75), vec3<f32>(0.62, 0.78, 0.92), in.uv.y);
    return vec4<f32>(mix(sky, vec3<f32>(0.96), thick), 1.0);
}

struct World {
    light: mat4x4<f32>,
    towards_light: vec4<f32>,
    light_color: vec4<f32>,
    sky_color: vec4<f32>,
    fog: vec4<f32>,
}

@group(0) @binding(0) var<uniform> eye: Eye;
@group(0) @binding(1) var<uniform> world: World;
@group(0) @binding(2) var shadow: texture_depth_2d;
@group(0) @binding(3) var compare: sampler_comparison;

struct Given {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) texture: vec2<f32>,
    @location(3) place: vec4<f32>,
    @location(4) color: vec4<f32>,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) color: vec4<f32>,
    @location(3) texture: vec2<f32>,
}

@vertex
fn cast_shadow(in: Given) -> @builtin(position) vec4<f32> {
    return world.light * vec4<f32>(in.position * in.place.w + in.place.xyz, 1.0);
}

@vertex
fn vertex(in: Given) -> Corner {
    var out: Corner;
    out.world = in.position * in.place.w + in.place.xyz;
    out.position = eye.view * vec4<f32>(out.world, 1.0);
    out.normal = in.normal;
    out.color = in.color;
    out.texture = in.texture;
    return out;
}

// Share of the light that arrives, over nine places of the shadow map.
fn arrives(at: vec3<f32>, normal: vec3<f32>) -> f32 {
    let seen = world.light * vec4<f32>(at + normal * 0.012, 1.0);
    let uv = seen.xy * vec2<f32>(0.5, -0.5) + 0.5;
    var sum = 0.0;
    for (var y = -1; y <= 1; y++) {
        for (var x = -1; x <= 1; x++) {
            let offset = vec2<f32>(f32(x), f32(y)) / 1024.0;
            sum += textureSampleCompareLevel(shadow, compare, uv + offset, seen.z - 0.003);
        }
    }
    let inside = all(uv >= vec2<f32>(0.0)) && all(uv <= vec2<f32>(1.0));
    return select(1.0, sum / 9.0, inside);
}

@fragment
fn fragment(in: Corner) -> @location(0) vec4<f32> {
    var normal = normalize(in.normal);
    let to_eye = normalize(eye.place.xyz - in.world);
    if dot(normal, to_eye) < 0.0 {
        normal = -normal;
    }
    let grain = fractal(in.world * 14.0 + eye.a.x, 3);
    var color = in.color.rgb * (1.0 + 0.35 * grain);
    if in.color.w > 150.0 {
        // Water: small waves, and the sky in it.
        normal = normalize(vec3<f32>(0.25 * grain, 1.0, 0.25 * fractal(in.world.zyx * 17.0, 3)));
        let away = pow(1.0 - max(dot(normal, to_eye), 0.0), 4.0);
        color = mix(color, world.sky_color.rgb, 0.2 + 0.7 * away);
    }
    let glows = max(max(in.color.r, in.color.g), in.color.b) > 2.0;
    let share = lit(normal, to_eye, world.towards_light.xyz, in.color.w);
    let light = arrives(in.world, normal);
    let around = mix(vec3<f32>(0.12), world.sky_color.rgb, 0.5 + 0.5 * normal.y) * 0.45;
    var sum = color * (around + world.light_color.rgb * share.x * light);
    sum += world.light_color.rgb * share.y * light * min(in.color.w / 120.0, 0.8);
    if glows {
        sum = in.color.rgb;
    }
    let far = distance(in.world, eye.place.xyz);
    let clear = exp(-world.fog.w * far * far * 0.4);
    return vec4<f32>(mix(world.fog.rgb, sum, select(clear, 1.0, glows)), 1.0);
}

@fragment
fn sky(in: Screen) -> @location(0) vec4<f32> {
    let high = mix(world.fog.rgb, world.sky_color.rgb, smoothstep(0.0, 1.0, 1.3 - 1.6 * in.uv.y));
    let drift = fractal(vec3<f32>(in.uv.x * 5.0, in.uv.y * 9.0, eye.a.x), 5);
    let sun = vec2<f32>(0.72, 0.2) - in.uv;
    let glow = eye.a.y * exp(-dot(sun, sun) * 160.0) * 6.0;
    return vec4<f32>(high + 0.25 * world.sky_color.rgb * max(drift, 0.0) + glow * world.light_color.rgb * 0.4, 1.0);
}

@group(0) @binding(0) var<uniform> eye: Eye;
@group(0) @binding(1) var smooth_: sampler;
@group(0) @binding(2) var picture: texture_2d<f32>;
@group(0) @binding(3) var smoke: texture_3d<f32>;

struct Given {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) texture: vec2<f32>,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) world: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) texture: vec2<f32>,
}

@vertex
fn vertex(in: Given) -> Corner {
    var out: Corner;
    out.position = eye.view * vec4<f32>(in.position, 1.0);
    out.world = in.position;
    out.normal = in.normal;
    out.texture = in.texture;
    return out;
}

fn facing(in: Corner) -> vec3<f32> {
    let normal = normalize(in.normal);
    return select(normal, -normal, dot(normal, eye.place.xyz - in.world) < 0.0);
}

// Two lights of an office: from the left above, and a weak one from the right.
fn office(in: Corner, color: vec3<f32>) -> vec3<f32> {
    let normal = facing(in);
    let to_eye = normalize(eye.place.xyz - in.world);
    let first = lit(normal, to_eye, normalize(vec3<f32>(-0.5, 0.9, 0.6)), 40.0);
    let second = lit(normal, to_eye, normalize(vec3<f32>(0.8, 0.2, 0.3)), 12.0);
    return color * (0.16 + 0.7 * first.x + 0.25 * second.x) + 0.35 * first.y;
}

@fragment
fn shaded(in: Corner) -> @location(0) vec4<f32> {
    let color = 0.55 + 0.3 * cos(vec3<f32>(0.3, 1.6, 2.9) + in.world.y * 2.2 + in.world.x * 0.7);
    return vec4<f32>(office(in, color), 1.0);
}

@fragment
fn textured(in: Corner) -> @location(0) vec4<f32> {
    let color = textureSample(picture, smooth_, in.texture * vec2<f32>(6.0, 3.0)).rgb;
    return vec4<f32>(office(in, color), 1.0);
}

@fragment
fn glass(in: Corner) -> @location(0) vec4<f32> {
    let edge = 1.0 - abs(dot(facing(in), normalize(eye.place.xyz - in.world)));
    return vec4<f32>(office(in, vec3<f32>(0.45, 0.7, 0.9)), 0.18 + 0.5 * edge * edge);
}

@fragment
fn light_line(in: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(0.55 + 0.4 * in.normal, 1.0);
}

@fragment
fn dark_line(in: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(0.1, 0.14, 0.25, 1.0);
}

@fragment
fn paper(in: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(0.97, 0.97, 0.95, 1.0);
}

// Light and thickness gathered through the cube, from the eye on, one step a voxel.
@fragment
fn volume(in: Screen) -> @location(0) vec4<f32> {
    let ahead = normalize(vec3<f32>(0.0, -0.05, 0.0) - eye.place.xyz);
    let right = normalize(cross(ahead, vec3<f32>(0.0, 1.0, 0.0)));
    let up = cross(right, ahead);
    let at = (in.uv * 2.0 - 1.0) * 0.42447482;
    let way = normalize(ahead + right * at.x * 1.25 - up * at.y);
    let half_size = eye.a.y;
    let a = (vec3<f32>(-half_size) - eye.place.xyz) / way;
    let b = (vec3<f32>(half_size) - eye.place.xyz) / way;
    let near = max(max(min(a.x, b.x), min(a.y, b.y)), max(min(a.z, b.z), 0.0));
    let far = min(min(max(a.x, b.x), max(a.y, b.y)), max(a.z, b.z));
    let back = vec3<f32>(0.1, 0.12, 0.17);
    if near >= far {
        return vec4<f32>(back, 1.0);
    }
    let steps = i32(eye.a.x);
    let length = (far - near) / f32(steps);
    var sum = vec3<f32>(0.0);
    var clear = 1.0;
    for (var step = 0; step < steps; step++) {
        let place = eye.place.xyz + way * (near + (f32(step) + 0.5) * length);
        let thick = textureSampleLevel(smoke, smooth_, place / half_size * 0.5 + 0.5, 0.0).r;
        let hidden = 1.0 - exp(-thick * length * 5.0);
        let heat = mix(vec3<f32>(0.15, 0.3, 0.9), vec3<f32>(1.0, 0.75, 0.25), thick);
        sum += heat * hidden * clear;
        clear *= 1.0 - hidden;
    }
    return vec4<f32>(sum + back * clear, 1.0);
}

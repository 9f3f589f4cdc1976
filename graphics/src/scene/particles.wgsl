@group(0) @binding(0) var<uniform> eye: Eye;
@group(0) @binding(1) var places: texture_2d<f32>;
@group(0) @binding(2) var speeds: texture_2d<f32>;

struct State {
    @location(0) place: vec4<f32>,
    @location(1) speed: vec4<f32>,
}

@fragment
fn start(in: Screen) -> State {
    let at = vec2<u32>(in.position.xy);
    let number = (at.y * u32(eye.a.x) + at.x) * 4u + u32(eye.a.z) * 16777619u;
    var out: State;
    let turn = unit(number) * 6.2831853;
    let radius = sqrt(unit(number + 1u)) * 0.8;
    out.place = vec4<f32>(cos(turn) * radius, 0.7 + 0.9 * unit(number + 2u), sin(turn) * radius, 1.0);
    out.speed = vec4<f32>(0.0, -0.4 * unit(number + 3u), 0.0, 0.0);
    return out;
}

// Falls for a frame; off the sphere and the floor it bounces and loses a part of its speed.
@fragment
fn step(in: Screen) -> State {
    let at = vec2<i32>(in.position.xy);
    var place = textureLoad(places, at, 0).xyz;
    var speed = textureLoad(speeds, at, 0).xyz;
    let dt = 0.05;
    speed.y -= 1.6 * dt;
    place += speed * dt;
    let away = length(place);
    if away < 0.5 {
        let normal = place / max(away, 1e-4);
        place = normal * 0.5;
        speed = (speed - 2.0 * min(dot(speed, normal), 0.0) * normal) * 0.75;
    }
    if place.y < -0.7 {
        place.y = -0.7;
        speed = vec3<f32>(speed.x, -speed.y, speed.z) * 0.6;
    }
    var out: State;
    out.place = vec4<f32>(place, 1.0);
    out.speed = vec4<f32>(speed, 0.0);
    return out;
}

struct Dot {
    @builtin(position) position: vec4<f32>,
    @location(0) corner: vec2<f32>,
    @location(1) color: vec3<f32>,
}

@vertex
fn particle(@builtin(vertex_index) corner: u32, @builtin(instance_index) number: u32) -> Dot {
    let side = u32(eye.a.x);
    let at = vec2<i32>(i32(number % side), i32(number / side));
    let place = textureLoad(places, at, 0).xyz;
    let speed = textureLoad(speeds, at, 0).xyz;
    let index = select(corner, corner - 2u, corner > 2u);
    let unit_corner = vec2<f32>(f32(index & 1u), f32(index >> 1u)) * 2.0 - 1.0;
    var out: Dot;
    out.position = eye.view * vec4<f32>(place, 1.0);
    let size = 0.022;
    out.position += vec4<f32>(unit_corner.x * size, unit_corner.y * size * 1.25, 0.0, 0.0);
    out.corner = unit_corner;
    let fast = clamp(length(speed) * 0.7, 0.0, 1.0);
    out.color = mix(vec3<f32>(0.1, 0.3, 1.0), vec3<f32>(1.0, 0.6, 0.15), fast) * 0.35 * eye.a.y;
    return out;
}

@fragment
fn glow(in: Dot) -> @location(0) vec4<f32> {
    let near = max(1.0 - dot(in.corner, in.corner), 0.0);
    return vec4<f32>(in.color * near * near, 1.0);
}

// What the scenes share: the eye, lights, a triangle over the whole target, noise.

struct Eye {
    view: mat4x4<f32>,
    place: vec4<f32>,
    // Scene's own numbers.
    a: vec4<f32>,
    b: vec4<f32>,
}

struct Screen {
    @builtin(position) position: vec4<f32>,
    @location(0) uv: vec2<f32>,
}

@vertex
fn screen(@builtin(vertex_index) index: u32) -> Screen {
    let corner = vec2<f32>(f32((index << 1u) & 2u), f32(index & 2u));
    var out: Screen;
    out.position = vec4<f32>(corner * 2.0 - 1.0, 0.0, 1.0);
    out.uv = vec2<f32>(corner.x, 1.0 - corner.y);
    return out;
}

// A whole number that looks random for each whole number (Jarzynski and Olano 2020, pcg).
fn scatter(value: u32) -> u32 {
    let state = value * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}

fn unit(value: u32) -> f32 {
    return f32(scatter(value) >> 8u) / 16777216.0;
}

// The gradient of a grid point and its share at a place near it (Perlin 2002).
fn gradient(cell: vec3<i32>, offset: vec3<f32>) -> f32 {
    let h = scatter(u32(cell.x) * 73856093u ^ u32(cell.y) * 19349663u ^ u32(cell.z) * 83492791u) & 15u;
    let u = select(offset.y, offset.x, h < 8u);
    let v = select(select(offset.z, offset.x, h == 12u || h == 14u), offset.y, h < 4u);
    return select(-u, u, (h & 1u) == 0u) + select(-v, v, (h & 2u) == 0u);
}

// Gradient noise, from about -1 to 1 (Perlin 2002, quintic interpolation).
fn perlin(at: vec3<f32>) -> f32 {
    let floor_at = floor(at);
    let cell = vec3<i32>(floor_at);
    let f = at - floor_at;
    let w = f * f * f * (f * (f * 6.0 - 15.0) + 10.0);
    var corner: array<f32, 8>;
    for (var i = 0; i < 8; i++) {
        let o = vec3<i32>(i & 1, (i >> 1u) & 1, (i >> 2u) & 1);
        corner[i] = gradient(cell + o, f - vec3<f32>(o));
    }
    let x = vec4<f32>(
        mix(corner[0], corner[1], w.x), mix(corner[2], corner[3], w.x),
        mix(corner[4], corner[5], w.x), mix(corner[6], corner[7], w.x),
    );
    return mix(mix(x.x, x.y, w.y), mix(x.z, x.w, w.y), w.z);
}

fn fractal(at: vec3<f32>, octaves: i32) -> f32 {
    var sum = 0.0;
    var size = 0.5;
    var place = at;
    for (var octave = 0; octave < octaves; octave++) {
        sum += perlin(place) * size;
        place = place * 2.03 + vec3<f32>(11.3, 5.7, 3.1);
        size *= 0.5;
    }
    return sum;
}

// Light of a direction on a surface: diffuse and a highlight (Blinn 1977).
fn lit(normal: vec3<f32>, towards_eye: vec3<f32>, towards_light: vec3<f32>, shine: f32) -> vec2<f32> {
    let half_way = normalize(towards_eye + towards_light);
    return vec2<f32>(
        max(dot(normal, towards_light), 0.0),
        pow(max(dot(normal, half_way), 0.0), shine),
    );
}

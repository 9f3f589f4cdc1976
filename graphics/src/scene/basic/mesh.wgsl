@group(0) @binding(0) var<uniform> eye: Eye;

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) color: vec3<f32>,
}

struct Given {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) texture: vec2<f32>,
}

fn colored(position: vec3<f32>, normal: vec3<f32>, lights: i32) -> vec3<f32> {
    let to_eye = normalize(eye.place.xyz - position);
    var sum = vec3<f32>(0.05);
    for (var light = 0; light < lights; light++) {
        let turn = f32(light) * 0.785398;
        let towards = normalize(vec3<f32>(cos(turn), 0.7, 0.4 + sin(turn)));
        let color = 0.5 + 0.5 * cos(vec3<f32>(0.0, 2.1, 4.2) + turn);
        let share = lit(normal, to_eye, towards, 24.0);
        sum += color * (share.x + 0.6 * share.y) / sqrt(f32(lights));
    }
    return sum;
}

@vertex
fn polygons(in: Given) -> Corner {
    var out: Corner;
    out.position = eye.view * vec4<f32>(in.position, 1.0);
    out.color = colored(in.position, normalize(in.normal), i32(eye.a.x));
    return out;
}

@vertex
fn simple(in: Given) -> Corner {
    var out: Corner;
    out.position = eye.view * vec4<f32>(in.position, 1.0);
    out.color = colored(in.position, normalize(in.normal), 1);
    return out;
}

// A bone turns about z and moves.
fn bone(number: i32, at: vec3<f32>) -> vec3<f32> {
    let turn = 0.35 * sin(f32(number) * 1.7);
    let c = cos(turn);
    let s = sin(turn);
    return vec3<f32>(c * at.x - s * at.y, s * at.x + c * at.y, at.z + 0.15 * cos(f32(number)));
}

@vertex
fn complex(in: Given) -> Corner {
    let along = in.texture.x * 4.0;
    var place = vec3<f32>(0.0);
    var normal = vec3<f32>(0.0);
    var weight = 0.0;
    for (var number = 0; number < 4; number++) {
        let near = max(1.0 - abs(along - f32(number) - 0.5), 0.05);
        place += bone(number, in.position) * near;
        normal += (bone(number, in.normal) - bone(number, vec3<f32>(0.0))) * near;
        weight += near;
    }
    place = place / weight;
    normal = normalize(normal);
    place += normal * 0.12 * fractal(place * 3.0, 3);
    var out: Corner;
    out.position = eye.view * vec4<f32>(place, 1.0);
    out.color = colored(place, normal, 2);
    return out;
}

@fragment
fn fragment(in: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(in.color, 1.0);
}

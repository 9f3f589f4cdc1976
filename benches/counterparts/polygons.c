/* Draws triangles of a file with one light at each corner, by OpenGL without a window, and prints how
 * many millions of triangles were drawn in a second.
 *
 *   polygons FILE WIDTH HEIGHT SECONDS [peer]
 *
 * The file holds two numbers of 32 bits, the count of corners and of indices (0: every three corners
 * are a triangle); 19 floats, the matrix of the view by columns and the place of the eye; six floats
 * a corner, its place and normal; and the indices. The light and the work at each corner are those of
 * graphics.polygons with one light, its loop over the lights included. As there, frames are
 * given for 0.3 s before the clock waits, and each is passed on to the driver. The best batch is told.
 * With `peer` it does as the scene `build` of glmark2: its light, a turn by 36 degrees a second,
 * triangles that face away are left out, the clock waits for each frame, and the mean is told.
 */
#include "gl.h"

#include <math.h>

static const char *VERTEX =
    "#version 330\n"
    "layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;\n"
    "uniform mat4 view; uniform vec3 eye; uniform int lights; out vec3 color;\n"
    "void main() {\n"
    "  gl_Position = view * vec4(position, 1.0);\n"
    "  vec3 n = normalize(normal), to_eye = normalize(eye - position);\n"
    "  color = vec3(0.05);\n"
    "  for (int light = 0; light < lights; light++) {\n"
    "    float turn = float(light) * 0.785398;\n"
    "    vec3 towards = normalize(vec3(cos(turn), 0.7, 0.4 + sin(turn)));\n"
    "    vec3 half_way = normalize(to_eye + towards);\n"
    "    vec3 own = 0.5 + 0.5 * cos(vec3(0.0, 2.1, 4.2) + turn);\n"
    "    float shine = pow(max(dot(n, half_way), 0.0), 24.0);\n"
    "    color += own * (max(dot(n, towards), 0.0) + 0.6 * shine) / sqrt(float(lights));\n"
    "  }\n"
    "}\n";
static const char *PEER_VERTEX =
    "#version 330\n"
    "layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;\n"
    "uniform mat4 view, turned; out vec3 color;\n"
    "void main() {\n"
    "  vec3 n = normalize(vec3(turned * vec4(normal, 1.0)));\n"
    "  color = vec3(max(dot(n, normalize(vec3(20.0, 20.0, 10.0))), 0.0));\n"
    "  gl_Position = view * vec4(position, 1.0);\n"
    "}\n";
static const char *FRAGMENT =
    "#version 330\n"
    "in vec3 color; out vec4 shown;\n"
    "void main() { shown = vec4(color, 1.0); }\n";

static void *take(FILE *file, size_t bytes) {
    void *data = malloc(bytes + 1);
    if (!data || fread(data, 1, bytes, file) != bytes)
        fail("the file is too short");
    return data;
}

static GLint view, turned;
static unsigned *head;
static float *eye;
static int peer;

/* Turns the model by 36 degrees a second around the axis y. */
static void turn(double seconds) {
    float sin_ = sinf(seconds * 0.2 * 3.14159265), cos_ = cosf(seconds * 0.2 * 3.14159265), seen[16];
    const float normals[16] = {cos_, 0, -sin_, 0, 0, 1, 0, 0, sin_, 0, cos_, 0, 0, 0, 0, 1};
    for (int row = 0; row < 4; row++) {
        seen[row] = cos_ * eye[row] - sin_ * eye[8 + row];
        seen[4 + row] = eye[4 + row];
        seen[8 + row] = sin_ * eye[row] + cos_ * eye[8 + row];
        seen[12 + row] = eye[12 + row];
    }
    glUniformMatrix4fv(view, 1, GL_FALSE, seen);
    glUniformMatrix4fv(turned, 1, GL_FALSE, normals);
}

static void frame(double seconds) {
    if (peer)
        turn(seconds);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    if (head[1])
        glDrawElements(GL_TRIANGLES, head[1], GL_UNSIGNED_INT, 0);
    else
        glDrawArrays(GL_TRIANGLES, 0, head[0]);
}

int main(int count, char **words) {
    GLuint buffers[2], array;
    of_what = words[0];
    if (count != 5 && count != 6)
        fail("usage: polygons FILE WIDTH HEIGHT SECONDS [peer]");
    peer = count == 6;
    int width = atoi(words[2]), height = atoi(words[3]);
    FILE *file = fopen(words[1], "rb");
    if (!file)
        fail("the file cannot be opened");
    head = take(file, 8);
    eye = take(file, 19 * 4);
    void *corners = take(file, head[0] * 24ul), *indices = take(file, head[1] * 4ul);

    as_after(peer, width, height);
    context();
    GLuint program = use(peer ? PEER_VERTEX : VERTEX, FRAGMENT);
    view = glGetUniformLocation(program, "view"), turned = glGetUniformLocation(program, "turned");
    glUniformMatrix4fv(view, 1, GL_FALSE, eye);
    glUniform1i(glGetUniformLocation(program, "lights"), 1);
    glUniform3fv(glGetUniformLocation(program, "eye"), 1, eye + 16);

    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBufferData(GL_ARRAY_BUFFER, head[0] * 24l, corners, GL_STATIC_DRAW);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 24, (void *)0);
    glVertexAttribPointer(1, 3, GL_FLOAT, GL_FALSE, 24, (void *)12);
    glEnableVertexAttribArray(0);
    glEnableVertexAttribArray(1);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, head[1] * 4l, indices, GL_STATIC_DRAW);

    canvas(width, height, 1);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    if (peer)
        glEnable(GL_CULL_FACE);
    glClearColor(0.02f, 0.03f, 0.06f, 1);
    double triangles = (head[1] ? head[1] : head[0]) / 3;
    double found = rate(frame, triangles, atof(words[4]), peer);
    need_picture(width, height);
    printf("%.4f\n", found);
    return 0;
}

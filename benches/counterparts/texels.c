/* Fills a picture with texels, by OpenGL without a window, and prints how many millions of them were read
 * in a second.
 *
 *   texels WIDTH HEIGHT SECONDS [peer]
 *
 * As graphics.fill with eight textures: eight layers a frame, blended, each texel of every layer the mean
 * of eight textures of 256 x 256 at eight scales, with interpolation; frames are given for 0.3 s before the
 * clock waits, and the best batch is told. With `peer` as the scene `effect2d` of glmark2 with a kernel
 * of three by three: one layer, not blended, the sum of nine neighbours in one texture of 800 x 600,
 * without interpolation; the clock waits for each frame, and the mean is told.
 */
#include "gl.h"

#define LAYERS 8
#define TEXTURES 8
#define TAPS 9

static const char *VERTEX =
    "#version 330\n"
    "out vec2 uv;\n"
    "void main() {\n"
    "  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1)) * 2.0;\n"
    "  uv = corner;\n"
    "  gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);\n"
    "}\n";
static const char *FRAGMENT =
    "#version 330\n"
    "uniform sampler2D t0, t1, t2, t3, t4, t5, t6, t7; in vec2 uv; out vec4 shown;\n"
    "void main() {\n"
    "  vec3 sum = texture(t0, uv).rgb;\n"
    "  sum += texture(t1, uv * 1.1).rgb; sum += texture(t2, uv * 1.2).rgb;\n"
    "  sum += texture(t3, uv * 1.3).rgb; sum += texture(t4, uv * 1.4).rgb;\n"
    "  sum += texture(t5, uv * 1.5).rgb; sum += texture(t6, uv * 1.6).rgb;\n"
    "  sum += texture(t7, uv * 1.7).rgb;\n"
    "  shown = vec4(sum / 8.0, 0.5);\n"
    "}\n";
/* The peer writes the size of the picture and its kernel as constants, which the driver folds. */
static const char *PEER_FRAGMENT =
    "#version 330\n"
    "const vec2 by = vec2(1.0 / %d.0, 1.0 / %d.0); const float share = 0.111111;\n"
    "uniform sampler2D t0; in vec2 uv; out vec4 shown;\n"
    "vec4 tap(float x, float y) { return texture(t0, uv + vec2(x * by.x, y * by.y)) * share; }\n"
    "void main() {\n"
    "  vec4 sum = tap(-1.0, 1.0) + tap(0.0, 1.0) + tap(1.0, 1.0)\n"
    "    + tap(-1.0, 0.0) + tap(0.0, 0.0) + tap(1.0, 0.0)\n"
    "    + tap(-1.0, -1.0) + tap(0.0, -1.0) + tap(1.0, -1.0);\n"
    "  shown = vec4(sum.xyz, 1.0);\n"
    "}\n";

/* Tiles of drawn colours. */
static void texture(int place, int width, int height, GLenum filter) {
    unsigned char *data = malloc(width * height * 4l), tiles[64][3];
    for (int tile = 0; tile < 64; tile++)
        for (int part = 0; part < 3; part++)
            tiles[tile][part] = rand() >> 8;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int part = 0; part < 4; part++)
                data[(y * width + x) * 4 + part] =
                    part == 3 ? 255 : tiles[y * 8 / height * 8 + x * 8 / width][part];
    GLuint name;
    glActiveTexture(GL_TEXTURE0 + place);
    glGenTextures(1, &name);
    glBindTexture(GL_TEXTURE_2D, name);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    /* Of one level, between which ours is told to interpolate. */
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER,
                    filter == GL_LINEAR ? GL_LINEAR_MIPMAP_LINEAR : filter);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
    free(data);
}

static int layers = LAYERS;
static GLbitfield cleared = GL_COLOR_BUFFER_BIT;

static void frame(double seconds) {
    (void)seconds;
    glClear(cleared);
    for (int layer = 0; layer < layers; layer++)
        glDrawArrays(GL_TRIANGLES, 0, 3);
}

int main(int count, char **words) {
    GLuint array;
    of_what = words[0];
    if (count != 4 && count != 5)
        fail("usage: texels WIDTH HEIGHT SECONDS [peer]");
    int peer = count == 5, width = atoi(words[1]), height = atoi(words[2]);
    as_after(peer, width, height);
    context();
    char text[1024];
    snprintf(text, sizeof text, PEER_FRAGMENT, width, height);
    GLuint program = use(VERTEX, peer ? text : FRAGMENT);
    for (int one = 0; one < (peer ? 1 : TEXTURES); one++) {
        char name[] = {'t', '0' + one, 0};
        glUniform1i(glGetUniformLocation(program, name), one);
        texture(one, peer ? 800 : 256, peer ? 600 : 256, peer ? GL_NEAREST : GL_LINEAR);
    }
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    canvas(width, height, peer);
    if (peer) {
        layers = 1;
        cleared |= GL_DEPTH_BUFFER_BIT;
        glEnable(GL_DEPTH_TEST);
        glDepthFunc(GL_LEQUAL);
    } else {
        glEnable(GL_BLEND);
        glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    }
    double parts = (double)width * height * layers * (peer ? TAPS : TEXTURES);
    double found = rate(frame, parts, atof(words[3]), peer);
    need_picture(width, height);
    printf("%.4f\n", found);
    return 0;
}

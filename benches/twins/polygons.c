/* Draws triangles of a file with one light at each corner, by OpenGL without a window, and prints how
 * many millions of triangles were drawn in a second.
 *
 *   polygons FILE WIDTH HEIGHT SECONDS [peer]
 *
 * The file holds two numbers of 32 bits, the count of corners and of indices (0: every three corners
 * are a triangle); 19 floats, the matrix of the view by columns and the place of the eye; six floats
 * a corner, its place and normal; and the indices. The light and the work at each corner are those of
 * graphics.polygons with one light. As there, up to 64 frames are given before the clock waits.
 * With `peer` it does as the scene `build` of glmark2: no highlight, triangles that face away are left
 * out, and the clock waits for each frame.
 */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void fail(const char *what) {
    fprintf(stderr, "polygons: %s\n", what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static const char *VERTEX =
    "#version 330\n"
    "layout(location = 0) in vec3 position; layout(location = 1) in vec3 normal;\n"
    "uniform mat4 view; uniform vec3 eye; uniform bool plain; out vec3 color;\n"
    "void main() {\n"
    "  gl_Position = view * vec4(position, 1.0);\n"
    "  vec3 n = normalize(normal), to_eye = normalize(eye - position);\n"
    "  vec3 towards = normalize(vec3(1.0, 0.7, 0.4)), half_way = normalize(to_eye + towards);\n"
    "  vec3 light = 0.5 + 0.5 * cos(vec3(0.0, 2.1, 4.2));\n"
    "  color = vec3(0.05) + light * max(dot(n, towards), 0.0);\n"
    "  if (!plain) color += light * 0.6 * pow(max(dot(n, half_way), 0.0), 24.0);\n"
    "}\n";
static const char *FRAGMENT =
    "#version 330\n"
    "in vec3 color; out vec4 shown;\n"
    "void main() { shown = vec4(color, 1.0); }\n";

static void compile(GLuint program, GLenum kind, const char *text) {
    GLuint shader = glCreateShader(kind);
    GLint done;
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &done);
    if (!done)
        fail("a shader does not compile");
    glAttachShader(program, shader);
}

static void context(void) {
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    EGLContext made;
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API))
        fail("EGL does not start");
    made = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, version);
    if (!made || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, made))
        fail("there is no context of OpenGL 3.3");
}

static void *take(FILE *file, size_t bytes) {
    void *data = malloc(bytes + 1);
    if (!data || fread(data, 1, bytes, file) != bytes)
        fail("the file is too short");
    return data;
}

int main(int count, char **words) {
    GLuint program, names[2], buffers[2], frame, array;
    unsigned *head;
    float *eye;
    if (count != 5 && count != 6)
        fail("usage: polygons FILE WIDTH HEIGHT SECONDS [peer]");
    int peer = count == 6;
    int width = atoi(words[2]), height = atoi(words[3]);
    FILE *file = fopen(words[1], "rb");
    if (!file)
        fail("the file cannot be opened");
    head = take(file, 8);
    eye = take(file, 19 * 4);
    void *corners = take(file, head[0] * 24ul), *indices = take(file, head[1] * 4ul);

    context();
    program = glCreateProgram();
    compile(program, GL_VERTEX_SHADER, VERTEX);
    compile(program, GL_FRAGMENT_SHADER, FRAGMENT);
    glLinkProgram(program);
    glUseProgram(program);
    glUniformMatrix4fv(glGetUniformLocation(program, "view"), 1, GL_FALSE, eye);
    glUniform1i(glGetUniformLocation(program, "plain"), peer);
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

    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glGenRenderbuffers(2, names);
    glBindRenderbuffer(GL_RENDERBUFFER, names[0]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, names[0]);
    glBindRenderbuffer(GL_RENDERBUFFER, names[1]);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT32F, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, names[1]);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("the picture cannot be drawn on");
    glViewport(0, 0, width, height);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    if (peer)
        glEnable(GL_CULL_FACE);
    glClearColor(0.02f, 0.03f, 0.06f, 1);

    double triangles = (head[1] ? head[1] : head[0]) / 3, best = 0, from = now(), seconds = atof(words[4]);
    for (int frames = 1; now() - from < seconds || best == 0; frames = frames < 64 ? frames * 2 : 64) {
        double begin = now();
        for (int one = 0; one < frames; one++) {
            glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
            if (head[1])
                glDrawElements(GL_TRIANGLES, head[1], GL_UNSIGNED_INT, 0);
            else
                glDrawArrays(GL_TRIANGLES, 0, head[0]);
            if (peer)
                glFinish();
        }
        glFinish();
        double rate = triangles * frames / (now() - begin) / 1e6;
        if (rate > best)
            best = rate;
    }
    /* A picture on which nothing is seen is no work. */
    unsigned char *pixels = malloc(width * height * 4l), least = 255, most = 0;
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (long at = 0; at < width * height * 4l; at += 4) {
        least = pixels[at] < least ? pixels[at] : least;
        most = pixels[at] > most ? pixels[at] : most;
    }
    if (most - least < 64)
        fail("nothing is seen on the picture");
    printf("%.4f\n", best);
    return 0;
}

/* What the counterparts that draw by OpenGL have in common: a context without a window, programs, a picture
 * to draw on, and the clock. */
#ifndef GL_COUNTERPARTS_H
#define GL_COUNTERPARTS_H

#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *of_what = "";

static void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", of_what, what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
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

static GLuint use(const char *vertex, const char *fragment) {
    GLuint program = glCreateProgram();
    compile(program, GL_VERTEX_SHADER, vertex);
    compile(program, GL_FRAGMENT_SHADER, fragment);
    glLinkProgram(program);
    glUseProgram(program);
    return program;
}

static void attach(GLenum place, GLenum format, int width, int height) {
    GLuint buffer;
    glGenRenderbuffers(1, &buffer);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorage(GL_RENDERBUFFER, format, width, height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, place, GL_RENDERBUFFER, buffer);
}

/* A picture of RGBA8, with 32 bits of depth where `depth` is not 0. */
static void canvas(int width, int height, int depth) {
    GLuint frame;
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    attach(GL_COLOR_ATTACHMENT0, GL_RGBA8, width, height);
    if (depth)
        attach(GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT32F, width, height);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        fail("the picture cannot be drawn on");
    glViewport(0, 0, width, height);
}

/* A driver that draws by the CPU asks malloc for some MiB in every frame, and new pages from the kernel
 * take a third of the time. Whether they are new depends on the largest block that the process has
 * given back (mallopt(3), M_MMAP_THRESHOLD): glmark2 has given back a picture, ours more. */
static void as_after(int peer, int width, int height) {
    if (peer) {
        void *volatile picture = malloc(width * height * 4l);
        free(picture);
    } else {
        mallopt(M_MMAP_THRESHOLD, 32 << 20);
        mallopt(M_TRIM_THRESHOLD, 1 << 30);
    }
}

/* Millions of parts a second, of frames with so many parts each: the best of batches of 0.3 s at least, as
 * ours; or with `peer`, where the clock waits for each frame, the mean. `frame` is told how long it
 * has been. */
static double rate(void (*frame)(double), double parts, double seconds, int peer) {
    double best = 0, from = now();
    long all = 0;
    for (int frames = 1; now() - from < seconds || best == 0;) {
        double begin = now();
        for (int one = 0; one < frames; one++) {
            frame(begin - from);
            glFlush();
        }
        glFinish();
        double took = now() - begin;
        all += frames;
        if (peer)
            best = parts * all / (now() - from) / 1e6;
        else if (took < 0.3)
            frames *= 2;
        else if (parts * frames / took / 1e6 > best)
            best = parts * frames / took / 1e6;
    }
    return best;
}

/* A picture on which nothing is seen is no work. */
static void need_picture(int width, int height) {
    unsigned char *pixels = malloc(width * height * 4l), least = 255, most = 0;
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (long at = 0; at < width * height * 4l; at += 4) {
        least = pixels[at] < least ? pixels[at] : least;
        most = pixels[at] > most ? pixels[at] : most;
    }
    if (most - least < 64)
        fail("nothing is seen on the picture");
}

#endif

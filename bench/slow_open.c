/* Makes each opening of a file below SLOW_OPEN_BELOW take SLOW_OPEN_US microseconds longer, as a
 * network file system does. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void wait_for(const char *path) {
    const char *below = getenv("SLOW_OPEN_BELOW");
    const char *microseconds = getenv("SLOW_OPEN_US");
    if (!below || !microseconds || !path || strncmp(path, below, strlen(below)) != 0) return;
    long us = strtol(microseconds, NULL, 10);
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

static mode_t mode_of(int flags, va_list arguments) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(NAME)                                                      \
    int NAME(const char *path, int flags, ...) {                        \
        static int (*real)(const char *, int, ...);                     \
        if (!real) real = dlsym(RTLD_NEXT, #NAME);                      \
        va_list arguments;                                              \
        va_start(arguments, flags);                                     \
        mode_t mode = mode_of(flags, arguments);                        \
        va_end(arguments);                                              \
        wait_for(path);                                                 \
        return real(path, flags, mode);                                 \
    }

#define OPENAT(NAME)                                                    \
    int NAME(int folder, const char *path, int flags, ...) {            \
        static int (*real)(int, const char *, int, ...);                \
        if (!real) real = dlsym(RTLD_NEXT, #NAME);                      \
        va_list arguments;                                              \
        va_start(arguments, flags);                                     \
        mode_t mode = mode_of(flags, arguments);                        \
        va_end(arguments);                                              \
        wait_for(path);                                                 \
        return real(folder, path, flags, mode);                         \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

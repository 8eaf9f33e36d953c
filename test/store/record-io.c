/*
 * Preloaded into a process under test: writes down, in order, what the process asked of the files of one folder (RECORD_FOLDER) to the
 * file RECORD_LOG. A record is: kind (1 byte), path length (u16), offset (u64), data length (u32), path, data; numbers little-endian.
 * Kinds: C a file may have been created, W data written, T cut or grown to `offset`, S synced, U removed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static char folder[PATH_MAX];

__attribute__((constructor)) static void start(void) {
  const char *name = getenv("RECORD_FOLDER");
  const char *file = getenv("RECORD_LOG");
  if (name == NULL || file == NULL) return;
  snprintf(folder, sizeof folder, "%s", name);
  log_fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void record(char kind, const char *path, uint64_t offset, const void *data, uint32_t length) {
  if (log_fd < 0 || strncmp(path, folder, strlen(folder)) != 0) return;
  uint16_t path_length = (uint16_t)strlen(path);
  size_t total = 1 + 2 + 8 + 4 + path_length + (size_t)length;
  char *buffer = malloc(total);
  if (buffer == NULL) abort();
  char *at = buffer;
  *at++ = kind;
  memcpy(at, &path_length, 2), at += 2;
  memcpy(at, &offset, 8), at += 8;
  memcpy(at, &length, 4), at += 4;
  memcpy(at, path, path_length), at += path_length;
  if (length > 0) memcpy(at, data, length);
  if (syscall(SYS_write, log_fd, buffer, total) != (long)total) abort();
  free(buffer);
}

static int path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return 1;
}

static void record_fd(char kind, int fd, uint64_t offset, const void *data, uint32_t length) {
  int saved = errno;
  char path[PATH_MAX];
  if (log_fd >= 0 && path_of(fd, path)) record(kind, path, offset, data, length);
  errno = saved;
}

/* The record of a call stands where the call ended, so that a sync covers what was recorded before it began at the latest. */
#define LOCKED(call) \
  pthread_mutex_lock(&lock); \
  long result = (call);

#define UNLOCKED \
  pthread_mutex_unlock(&lock); \
  return result

static long do_open(int at, const char *path, int flags, mode_t mode) {
  LOCKED(syscall(SYS_openat, at, path, flags, mode))
  if (result >= 0 && (flags & O_CREAT) != 0) record_fd('C', (int)result, 0, NULL, 0);
  if (result >= 0 && (flags & O_TRUNC) != 0) record_fd('T', (int)result, 0, NULL, 0);
  UNLOCKED;
}

#define OPEN_MODE(flags) \
  mode_t mode = 0; \
  if ((flags & (O_CREAT | O_TMPFILE)) != 0) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) {
  OPEN_MODE(flags)
  return (int)do_open(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  OPEN_MODE(flags)
  return (int)do_open(AT_FDCWD, path, flags, mode);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
  LOCKED(syscall(SYS_pwrite64, fd, data, length, offset))
  if (result > 0) record_fd('W', fd, (uint64_t)offset, data, (uint32_t)result);
  UNLOCKED;
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return pwrite(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
  LOCKED(syscall(SYS_write, fd, data, length))
  if (result > 0) {
    off_t end = lseek(fd, 0, SEEK_CUR);
    if (end >= result) record_fd('W', fd, (uint64_t)(end - result), data, (uint32_t)result);
  }
  UNLOCKED;
}

int ftruncate(int fd, off_t length) {
  LOCKED(syscall(SYS_ftruncate, fd, length))
  if (result == 0) record_fd('T', fd, (uint64_t)length, NULL, 0);
  UNLOCKED;
}
int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int fsync(int fd) {
  LOCKED(syscall(SYS_fsync, fd))
  if (result == 0) record_fd('S', fd, 0, NULL, 0);
  UNLOCKED;
}
int fdatasync(int fd) {
  LOCKED(syscall(SYS_fdatasync, fd))
  if (result == 0) record_fd('S', fd, 0, NULL, 0);
  UNLOCKED;
}

int unlink(const char *path) {
  LOCKED(syscall(SYS_unlinkat, AT_FDCWD, path, 0))
  if (result == 0) {
    int saved = errno;
    record('U', path, 0, NULL, 0);
    errno = saved;
  }
  UNLOCKED;
}

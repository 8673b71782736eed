/*
 * Loaded ahead of the C library (LD_PRELOAD), it makes the disk and the clock of one process misbehave as instructed
 * through a small file that both sides map. Only files below CHAOS_FOLDER are touched; everything else goes through.
 * shim.ts knows the same fields in the same order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct control {
  int64_t clock_ms;    /* added to the time of day */
  int64_t sync_ms;     /* every fsync takes this much longer */
  int64_t sync_errno;  /* every fsync fails with this, after it was done */
  int64_t write_errno; /* every write fails with this */
  int64_t writes_left; /* the process dies at the write that this counts down to; 0: never */
  int64_t dies_at;     /* writes that count: 1 to the write-ahead log, 2 to the database itself */
  int64_t torn_bytes;  /* how much of the fatal write still gets to the file */
};

static struct control nothing;
static volatile struct control *control = &nothing;
static const char *folder = "";

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate64)(int, off64_t);
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_gettimeofday)(struct timeval *, void *);

__attribute__((constructor)) static void start(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite64 = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate64 = dlsym(RTLD_NEXT, "ftruncate64");
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  real_gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
  const char *path = getenv("CHAOS_CONTROL");
  const char *below = getenv("CHAOS_FOLDER");
  if (path == NULL || below == NULL) return;
  int fd = open(path, O_RDONLY);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) return;
  folder = below;
  control = mapped;
}

/* 0: no file of ours, 1: the write-ahead log, 2: the database, 3: another one */
static int kind_of(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (*folder == 0 || strncmp(path, folder, strlen(folder)) != 0) return 0;
  if (length > 7 && strcmp(path + length - 7, ".db-wal") == 0) return 1;
  if (length > 3 && strcmp(path + length - 3, ".db") == 0) return 2;
  return 3;
}

/* Since the order was given: the control file is not written from here. */
static int64_t writes_done;

/* -1: goes through; otherwise how many bytes of it do before the process dies */
static int64_t fatal_bytes(int fd, size_t size) {
  if (control->writes_left == 0 || kind_of(fd) != control->dies_at) return -1;
  if (__atomic_add_fetch(&writes_done, 1, __ATOMIC_SEQ_CST) < control->writes_left) return -1;
  return control->torn_bytes < (int64_t)size ? control->torn_bytes : (int64_t)size;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

static int refuses(int fd) {
  if (control->write_errno == 0 || kind_of(fd) == 0) return 0;
  errno = (int)control->write_errno;
  return 1;
}

ssize_t write(int fd, const void *bytes, size_t size) {
  if (refuses(fd)) return -1;
  int64_t fatal = fatal_bytes(fd, size);
  if (fatal >= 0) {
    real_write(fd, bytes, (size_t)fatal);
    die();
  }
  return real_write(fd, bytes, size);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
  if (refuses(fd)) return -1;
  int64_t fatal = fatal_bytes(fd, size);
  if (fatal >= 0) {
    real_pwrite64(fd, bytes, (size_t)fatal, at);
    die();
  }
  return real_pwrite64(fd, bytes, size, at);
}

int ftruncate64(int fd, off64_t size) {
  return refuses(fd) ? -1 : real_ftruncate64(fd, size);
}

static int synced(int fd, int result) {
  if ((control->sync_ms == 0 && control->sync_errno == 0) || kind_of(fd) == 0) return result;
  struct timespec wait = {control->sync_ms / 1000, (control->sync_ms % 1000) * 1000000};
  nanosleep(&wait, NULL);
  if (control->sync_errno == 0) return result;
  errno = (int)control->sync_errno;
  return -1;
}

int fsync(int fd) { return synced(fd, real_fsync(fd)); }

int fdatasync(int fd) { return synced(fd, real_fdatasync(fd)); }

int clock_gettime(clockid_t id, struct timespec *time) {
  int result = real_clock_gettime(id, time);
  if (result != 0 || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE)) return result;
  int64_t ms = control->clock_ms;
  time->tv_sec += ms / 1000;
  time->tv_nsec += (ms % 1000) * 1000000;
  if (time->tv_nsec >= 1000000000) time->tv_sec++, time->tv_nsec -= 1000000000;
  if (time->tv_nsec < 0) time->tv_sec--, time->tv_nsec += 1000000000;
  return result;
}

int gettimeofday(struct timeval *time, void *zone) {
  int result = real_gettimeofday(time, zone);
  if (result != 0 || time == NULL) return result;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return result;
}

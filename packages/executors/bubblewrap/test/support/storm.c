// LD_PRELOAD: a timer of STORM microseconds in a program. STORM_MODE 0: its handler does not restart calls; 1: it does; 2: ignored.
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static void on(int number) { (void)number; }
__attribute__((constructor)) static void start(void) {
  char *every = getenv("STORM"), *mode = getenv("STORM_MODE");
  if (!every) return;
  int way = mode ? atoi(mode) : 0;
  struct sigaction action = { 0 };
  if (way == 2) action.sa_handler = SIG_IGN; else action.sa_handler = on;
  action.sa_flags = way == 1 ? SA_RESTART : 0;
  sigaction(SIGALRM, &action, 0);
  struct itimerval timer = { { 0, atoi(every) }, { 0, atoi(every) } };
  setitimer(ITIMER_REAL, &timer, 0);
}

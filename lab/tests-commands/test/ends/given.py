"""Gives this command's output to another command of its workspace, or takes it: `give SOCKET`, `take SOCKET`."""

import array
import os
import socket
import sys

what, path = sys.argv[1:]
end = socket.socket(socket.AF_UNIX)
if what == "give":
    end.connect(path)
    end.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [1, 2]))])
    end.recv(1)  # the other one has written
    print("given", flush=True)
    sys.exit(0)
end.bind(path)
end.listen()
print("ready", flush=True)
peer, _ = end.accept()
_, [(_, _, rights)], _, _ = peer.recvmsg(1, socket.CMSG_SPACE(8))
taken = array.array("i", rights)
os.write(taken[0], b"early\n")
peer.send(b"x")
written = 0
while taken:
    for fd in list(taken):
        try:
            os.write(fd, b"late\n")
            written += 1
        except OSError:
            taken.remove(fd)
print("closed", flush=True)

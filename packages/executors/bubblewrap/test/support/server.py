"""Serves `hello` on a port of the loopback and on an abstract socket until its input ends: `server.py PORT`. `ask PORT` asks both."""

import socket
import sys
import threading


def serve(listener):
    while True:
        connection, _ = listener.accept()
        connection.recv(100)
        connection.sendall(b"hello\n")
        connection.close()


def ask(family, address):
    with socket.socket(family) as client:
        client.settimeout(5)
        client.connect(address)
        client.sendall(b"?")
        return client.recv(100).decode().strip()


port = int(sys.argv[-1])
places = [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port)), (socket.AF_UNIX, f"\0ws-{port}")]
if sys.argv[1] == "ask":
    for family, address in places:
        try:
            print(ask(family, address))
        except OSError as error:
            print(type(error).__name__)
else:
    for family, address in places:
        listener = socket.socket(family)
        if family != socket.AF_UNIX:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen()
        threading.Thread(target=serve, args=[listener], daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()

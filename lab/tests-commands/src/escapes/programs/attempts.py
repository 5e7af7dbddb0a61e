"""Tries to get out. Prints the name of each attempt that succeeded, one a line, and `done` at the end.

usage: attempts.py FILE
FILE holds, a line each: SECRET TOKEN VICTIM TCP UDP ABSTRACT STREAM DATAGRAM KEY QUEUE STOCK SHARED. No executor reads them there.
SECRET: a file outside, with TOKEN in it; VICTIM: a process of the same user outside, with TOKEN in its environment, the
directory of SECRET as its working directory and SECRET open as descriptor 3; KEY: of System V memory and of a message queue
of that user, with TOKEN in them; QUEUE: a POSIX message queue, likewise; STOCK: a file of a read-only mount; SHARED: a socket of
the host in the workspace; the rest: where the host listens.
"""
import ctypes, errno, fcntl, os, platform, signal, socket, stat, sys

secret, token, victim, tcp, udp, abstract, stream, datagram, key, queue, stock, shared = open(sys.argv[1]).read().splitlines()
victim, key = int(victim), int(key)
x64 = platform.machine() == 'x86_64'
libc = ctypes.CDLL(None, use_errno=True)


def attempt(name, action):
    try:
        if action():
            print(name, flush=True)
    except BaseException:
        pass


def holds(path):
    with open(path, 'rb') as file:
        return token.encode() in file.read(1 << 20)


def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), 'refused')
    return result


proc = f'/proc/{victim}'
base = os.path.basename(secret)
attempt('/proc/self/root', lambda: any(holds(p + secret) for p in ['/proc/self/root', '/proc/thread-self/root']))
attempt('/proc/1/root and cwd', lambda: holds('/proc/1/root' + secret))
attempt('cwd of another process', lambda: holds(f'{proc}/cwd/{base}'))
attempt('root of another process', lambda: holds(f'{proc}/root{secret}'))
attempt('descriptors of another process', lambda: holds(f'{proc}/fd/3'))
attempt('environment of another process', lambda: holds(f'{proc}/environ'))


def memory():
    with open(f'{proc}/maps') as maps:
        start = int(next(line for line in maps if ' r' in line).split('-')[0], 16)
    with open(f'{proc}/mem', 'rb') as mem:
        mem.seek(start)
        return len(mem.read(16)) == 16


def vm_read():
    class Vector(ctypes.Structure):
        _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]
    buffer = ctypes.create_string_buffer(8)
    own, other = Vector(ctypes.addressof(buffer), 8), Vector(0x400000, 8)
    result = libc.syscall(310 if x64 else 270, victim, ctypes.byref(own), 1, ctypes.byref(other), 1, 0)
    # EFAULT: it was let in, and nothing was at that address
    return result > 0 or ctypes.get_errno() == errno.EFAULT


attempt('memory of another process', lambda: memory() or vm_read())


def trace():
    call(101 if x64 else 117, 0x4206, victim, 0, 0)  # PTRACE_SEIZE
    return True


attempt('ptrace', trace)
attempt('signals to the host', lambda: os.kill(victim, signal.SIGCONT) is None)


def number_in_use():
    try:
        os.kill(victim, 0)
    except PermissionError:
        pass
    return True


attempt('process numbers in use', number_in_use)


def environment():
    if any(token in value for value in os.environ.values()):
        return True
    for entry in os.listdir('/proc'):
        if entry.isdigit() and int(entry) != victim:
            try:
                if holds(f'/proc/{entry}/environ'):
                    return True
            except OSError:
                pass


attempt('secrets in the environment', environment)


def write_system(path):
    with open(path, 'r') as file:
        before = file.read()
    with open(path, 'w') as file:
        file.write(before)
    return True


for path in ['/proc/sys/kernel/hostname', '/proc/sys/kernel/core_pattern', '/proc/sys/vm/swappiness']:
    attempt('/proc/sys', lambda: write_system(path))


def set_id():
    with open('escape-setid', 'w') as file:
        file.write('x')
    for change in [lambda: os.chmod('escape-setid', 0o4755), lambda: os.chmod('escape-setid', 0o2755),
                   lambda: os.close(os.open('escape-created', os.O_CREAT | os.O_WRONLY, 0o4755))]:
        try:
            change()
        except OSError:
            pass
    return any(os.stat(name).st_mode & 0o6000 for name in os.listdir('.') if name.startswith('escape-'))


attempt('setuid bit', set_id)
attempt('mknod', lambda: os.mknod('escape-device', 0o020666, os.makedev(1, 3)) is None)


def whiteout():
    open('escape-whiteout', 'w').close()
    call(316 if x64 else 276, -100, b'escape-whiteout', -100, b'escape-renamed', 4)
    return stat.S_ISCHR(os.stat('escape-whiteout').st_mode)


attempt('whiteout', whiteout)


def flag():
    descriptor = os.open(stock, os.O_RDONLY)
    flags = fcntl.ioctl(descriptor, 0x80086601, bytes(8))
    return fcntl.ioctl(descriptor, 0x40086602, bytes([flags[0] ^ 0x40]) + flags[1:]) is not None


attempt('extended attributes of a read-only mount', lambda: os.setxattr(stock, 'user.escape', b'x') is None)
attempt('flags of a read-only mount', flag)


def inject():
    leader, follower = os.openpty()
    fcntl.ioctl(follower, 0x5412, b'x')
    return True


attempt('TIOCSTI', inject)


def segment():
    libc.shmat.restype = ctypes.c_void_p
    address = libc.shmat(libc.shmget(key, 0, 0), None, 0o10000)
    return address != ctypes.c_void_p(-1).value and token.encode() in ctypes.string_at(address, 256)


def message():
    buffer = ctypes.create_string_buffer(8 + 256)
    return libc.msgrcv(libc.msgget(key, 0), buffer, 256, 0, 0o4000) > 0 and token.encode() in buffer.raw


def queued():
    descriptor = call(240 if x64 else 180, queue.encode(), os.O_RDONLY | os.O_NONBLOCK, 0, None)
    buffer = ctypes.create_string_buffer(256)
    return call(243 if x64 else 183, descriptor, buffer, 256, None, None) > 0 and token.encode() in buffer.raw


attempt('System V shared memory', segment)
attempt('System V message queue', message)
attempt('POSIX message queue', queued)
# The host looks whether it is there when the command has ended.
attempt('memory left behind', lambda: libc.shmget(key + 1, 4096, 0o1600) < 0 and False)


def asynchronous():
    context = ctypes.c_ulong(0)
    call(206 if x64 else 0, 1, ctypes.byref(context))
    return call(207 if x64 else 1, context) == 0


# Both take from a count that all commands of the machine or the user share.
attempt('io_setup', asynchronous)
attempt('fanotify_init', lambda: os.close(call(300 if x64 else 262, 0x200, 0)) is None)


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as sock:
        sock.settimeout(20)
        sock.connect(address)
        return kind == socket.SOCK_STREAM and token.encode() in sock.recv(256)


def send(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.sendto(token.encode(), address)


attempt('TCP', lambda: connect(socket.AF_INET, ('127.0.0.1', int(tcp))))
attempt('abstract socket', lambda: connect(socket.AF_UNIX, '\0' + abstract))
attempt('socket with a path', lambda: connect(socket.AF_UNIX, stream))
attempt('socket in the workspace', lambda: connect(socket.AF_UNIX, shared))
# The host says whether these arrived.
attempt('UDP', lambda: send(socket.AF_INET, ('127.0.0.1', int(udp))))
attempt('datagram to a socket with a path', lambda: send(socket.AF_UNIX, datagram))


def vsock():
    with socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM):
        return True


attempt('vsock', vsock)
attempt('write by absolute path', lambda: open(secret, 'a').write('changed') > 0)
attempt('stat', lambda: os.stat(secret).st_size > 0)
attempt('stat by ..', lambda: os.stat('/'.join(['..'] * 30) + secret).st_size > 0)
attempt('list', lambda: base in os.listdir(os.path.dirname(secret)))
attempt('access', lambda: os.access(secret, os.F_OK))
print('done')

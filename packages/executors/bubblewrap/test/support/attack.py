"""Tries to get out. Prints one JSON object: the name of each attempt that succeeded, and what it got."""
import ctypes, errno, json, mmap, os, platform, socket, struct, sys

secret, port, abstract, pathSocket, hostPid = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], int(sys.argv[5])
libc = ctypes.CDLL(None, use_errno=True)
won = {}
x64 = platform.machine() == 'x86_64'


def attempt(name, action):
    try:
        got = action()
    except BaseException as error:
        return
    if got is not None and got is not False:
        won[name] = str(got)[:200]


def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), 'refused')
    return result


def read(path):
    with open(path) as file:
        return file.read()


def link(target):
    name = f'escape-{os.getpid()}'
    os.symlink(target, name)
    try:
        return read(name)
    finally:
        os.unlink(name)


up = '/'.join(['..'] * 30)
attempt('open', lambda: read(secret))
attempt('stat', lambda: os.stat(secret).st_size)
attempt('dots', lambda: read(up + secret))
attempt('link', lambda: link(secret))
attempt('link up', lambda: link(up + secret))
attempt('hard link', lambda: os.link(secret, 'escape-hard'))
for base in ['/proc/self/root', '/proc/1/root', '/proc/1/cwd', '/proc/self/cwd', '/proc/thread-self/root']:
    attempt(f'{base} secret', lambda: read(base + secret))
    attempt(f'{base} up', lambda: read(base + '/' + up + secret))
attempt('other processes', lambda: [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 300] or None)
attempt('host root', lambda: read(f'/proc/{hostPid}/root{secret}'))
attempt('host environ', lambda: read(f'/proc/{hostPid}/environ'))
attempt('memory of process 1', lambda: open('/proc/1/mem', 'r+b'))
attempt('signal host', lambda: os.kill(hostPid, 0) or 'sent')
attempt('signal process 1', lambda: None if os.kill(1, 9) else None)
for path in ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sysrq-trigger', '/proc/self/oom_score_adj']:
    attempt(f'write {path}', lambda: open(path, 'w').write('x') and 'written')

openat2 = struct.pack('QQQ', 0, 0, 0)
attempt('openat2', lambda: call(437, -100, secret.encode(), openat2, 24))
attempt('io_uring', lambda: call(425, 8, ctypes.create_string_buffer(120)))
attempt('open_by_handle_at', lambda: call(304 if x64 else 265, -100, ctypes.create_string_buffer(128), 0))
attempt('name_to_handle_at', lambda: call(303 if x64 else 264, -100, b'/usr', ctypes.create_string_buffer(128), ctypes.byref(ctypes.c_int()), 0))
for name, number in {'mount': 165 if x64 else 40, 'unshare': 272 if x64 else 97, 'pivot_root': 155 if x64 else 41, 'chroot': 161 if x64 else 51}.items():
    attempt(name, lambda: call(number, 0x10000000, 0, 0, 0, 0) == 0 and name)
attempt('user namespace', lambda: call(272 if x64 else 97, 0x10000000) == 0 and 'made')
attempt('clone into a namespace', lambda: call(56 if x64 else 220, 0x10000000 | 17, 0, 0, 0, 0))
attempt('clone3', lambda: call(435, struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64))
attempt('bpf', lambda: call(321 if x64 else 280, 0, 0, 0))
attempt('keyctl', lambda: call(250 if x64 else 219, 0, -3, 0))
attempt('perf', lambda: call(298 if x64 else 241, 0, 0, -1, -1, 0))
attempt('terminal injection', lambda: call(16 if x64 else 29, 0, 0x5412, b'x') == 0 and 'sent')


def foreign():
    # mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b'\xb8\x14\x00\x00\x00\xcd\x80\xc3')
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.c_int(function() & 0xFFFFFFFF).value > 0 else 1)
    # a kernel without these calls ends their caller
    return 'answered' if os.waitpid(child, 0)[1] == 0 else None


if x64:
    attempt('32-bit calls', foreign)
    attempt('x32 calls', lambda: call(0x40000000 + 39))


def setid():
    with open('escape-setid', 'w') as file:
        file.write('x')
    os.chmod('escape-setid', 0o4755)
    return os.stat('escape-setid').st_mode & 0o6000 or None


attempt('setuid by chmod', setid)
attempt('setgid directory', lambda: (os.mkdir('escape-dir'), os.chmod('escape-dir', 0o2755), os.stat('escape-dir').st_mode & 0o6000)[2] or None)
attempt('setuid by creation', lambda: os.fstat(os.open('escape-open', os.O_CREAT | os.O_WRONLY, 0o4755)).st_mode & 0o6000 or None)
attempt('device', lambda: os.mknod('escape-null', 0o020666, os.makedev(1, 3)) or 'made')


def connect(family, address, kind=socket.SOCK_STREAM):
    with socket.socket(family, kind) as sock:
        sock.settimeout(1)
        sock.connect(address)
        return 'connected'


attempt('tcp', lambda: connect(socket.AF_INET, ('127.0.0.1', port)))
attempt('abstract socket', lambda: connect(socket.AF_UNIX, '\0' + abstract))
attempt('socket by path', lambda: connect(socket.AF_UNIX, pathSocket))
attempt('vsock', lambda: connect(socket.AF_VSOCK, (2, 22)))
attempt('packet socket', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt('raw socket', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('become root', lambda: os.setuid(0) or os.getuid() == 0)
attempt('groups', lambda: os.setgroups([0]) or 'set')
print(json.dumps(won))

# Says where paths lead for a process whose root is another directory (chroot): one JSON request a line. Who is not root
# becomes it in a user namespace of its own.
import ctypes, errno, json, os, sys

new_user = 0x10000000

def change_root(root):
    if os.getuid() != 0:
        uid, gid = os.getuid(), os.getgid()
        if ctypes.CDLL(None, use_errno=True).unshare(new_user) != 0:
            raise OSError(ctypes.get_errno(), 'unshare')
        for name, text in (('setgroups', 'deny'), ('uid_map', f'{uid} {uid} 1'), ('gid_map', f'{gid} {gid} 1')):
            with open(f'/proc/self/{name}', 'w') as file:
                file.write(text)
    os.chroot(root)
    os.chdir('/')

def attempt(work):
    try:
        return work()
    except OSError as error:
        return errno.errorcode[error.errno]

def read(path):
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb', buffering=0) as file:
        return 'content ' + file.read(100).decode()

def names(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    return 'names ' + ' '.join(sorted(os.listdir(fd)))

def stat(path):
    return {4: 'directory', 8: 'file', 10: 'symlink'}.get(os.lstat(path).st_mode >> 12, 'other')

def write(path):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 'wb') as file:
        file.write(b'written')
    return 'written'

def parents(path):
    os.makedirs(os.path.dirname(path) or '/', exist_ok=True)
    return write(path)

def make(path):
    os.makedirs(path, exist_ok=True)
    return 'written'

works = {'read': read, 'names': names, 'stat': stat, 'write': write, 'parents': parents, 'make': make}
for line in sys.stdin:
    request = json.loads(line)
    child = os.fork()
    if child == 0:
        try:
            change_root(request['root'])
            print(json.dumps([attempt(lambda: works[what](path)) for what, path in request['questions']]), flush=True)
            os._exit(0)
        except BaseException as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit(1)

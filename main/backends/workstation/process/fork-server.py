# fork-server.pl in Python, which starts a program without a copy of itself (posix_spawn; Perl can only fork). The frames, the words
# and what is done between them are the same: the head of that file says what. Python 3.8 and what a base system has of it.
import errno
import os
import select
import signal
import sys

comm = '/proc/self/comm'
if os.access(comm, os.W_OK):
    with open(comm, 'w') as name:
        name.write('iris-launcher')

# Off the first three, so that whatever is started gets none of them: what Python opens, an exec closes.
source, out, err = os.dup(0), os.dup(1), os.dup(2)
null = os.open('/dev/null', os.O_RDWR)
for number in (0, 1, 2):
    os.dup2(null, number)
kept = {0, 1, 2, source, out, err}
for number in [int(each) for each in os.listdir('/dev/fd')]:
    if number not in kept:
        try:
            os.close(number)
        except OSError:
            pass  # the one the list was read with


def complain(*told):
    os.write(err, ('%s: %s\n' % (told[0].__name__, told[1])).encode())


sys.excepthook = complain
os.chdir('/')
woken, waker = os.pipe()
os.set_blocking(woken, False)
os.set_blocking(waker, False)
# Handlers, not SIG_IGN as Python has it for the last two: an exec sets them back. The first only wakes the poll below, by a byte in
# the pipe.
for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, lambda *_: None)
signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

attempts = b''
base = {}
running = {}
started, events = [], []


def flush():
    global started, events
    text = b''.join(started) + b''.join(events)
    started, events = [], []
    while text:
        try:
            text = text[os.write(out, text):]
        except BrokenPipeError:
            os._exit(0)


def fault(uid, step, *detail):
    events.append(b'fault %s %s %s\n' % (uid, step, b' '.join(detail)))


def reason(error):
    return (b'%d' % error.errno, os.strerror(error.errno).encode())


# Who gets our orphans: asked by making one.
def reaper():
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        parent = os.getpid()
        if os.fork():
            os._exit(0)
        while os.getppid() == parent:
            select.select([], [], [], 0.001)
        os.write(write, b'%d' % os.getppid())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    answer = int(os.read(read, 20) or 0)
    os.close(read)
    return 0 if answer == os.getpid() else answer


# The first of the files that can be executed; or None, what stands in the way (of the first refused one, else of the last), and
# which file that is.
def program(files):
    why = None
    for index, file in enumerate(files):
        try:
            folder = os.stat(file).st_mode & 0o170000 == 0o040000
            if not folder and os.access(file, os.X_OK):
                return file, None
            state = b'folder' if folder else b'refused'
        except OSError as error:
            state = b'hidden' if error.errno in (errno.EACCES, errno.EPERM) else b'missing'
        if why is None or why[0] != b'refused':
            why = (state, b'%d' % index)
    return None, why


def start(texts):
    uid, cwd = texts[1], texts[2]
    lists, at = [], 3
    for _ in range(3):
        after = at + 1 + int(texts[at])
        lists.append(texts[at + 1:after])
        at = after
    folder = attempts + b'/' + uid
    for each in (folder, folder + b'/work'):
        try:
            os.mkdir(each, 0o700)
        except FileExistsError:
            if each is folder and os.path.exists(folder + b'/claim'):
                events.append(b'claimed %s\n' % uid)
                return
        except OSError as error:
            fault(uid, b'attempt', *reason(error))
            return
    try:
        os.chdir(cwd)
    except OSError as error:
        fault(uid, b'cwd', *((b'0', b'file') if error.errno == errno.ENOTDIR and os.path.exists(cwd) else reason(error)))
        return
    file, why = program(lists[1])
    if file is None:
        os.chdir('/')
        fault(uid, b'program', *why)
        return
    environment = dict(base)
    environment.update(zip(texts[at::2], texts[at + 1::2]))
    try:
        pid = os.posix_spawn(lists[0][0], lists[0] + [file] + lists[2], environment, setsid=True)
    except OSError as error:
        fault(uid, b'fork' if error.errno in (errno.EAGAIN, errno.ENOMEM) else b'exec', *reason(error))
        return
    finally:
        os.chdir('/')
    running[pid] = uid
    started.append(b'started %s %d\n' % (uid, pid))


def reap():
    while running:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        uid = running.pop(pid, None)
        if uid is None:
            continue
        claim, alive = b'', 1
        try:
            file = os.open(b'%s/%s/claim' % (attempts, uid), os.O_RDONLY)
            claim = os.read(file, 4096)
            os.close(file)
        except OSError:
            pass  # none was made
        try:
            os.kill(-pid, 0)
        except ProcessLookupError:
            alive = 0
        except OSError:
            pass
        events.append(b'ended %s %d %d %d %d\n%s' % (uid, pid, status, alive, len(claim), claim))


def receive(frame):
    global attempts, base
    texts, at = [], 0
    while at < len(frame):
        end = at + 4 + int.from_bytes(frame[at:at + 4], 'big')
        texts.append(frame[at + 4:end])
        at = end
    if texts[0] != b'setup':
        try:
            start(texts)
        except ValueError as error:
            # A text that holds a zero byte.
            fault(texts[1], b'exec', b'%d' % errno.EINVAL, str(error).encode())
        return
    attempts = texts[1]
    base = dict(zip(texts[2::2], texts[3::2]))
    # A system that cannot do this has no use for this server; it ends here, before it is ready.
    os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', ':'], {}, setsid=True), 0)
    events.append(b'ready %d %d\n' % (os.getpid(), reaper()))


poll = select.poll()
poll.register(source, select.POLLIN)
poll.register(woken, select.POLLIN)
unread = b''
while True:
    # Starts wait a little for company.
    ready = [number for number, _ in poll.poll(5 if started else None)]
    if woken in ready:
        os.read(woken, 4096)
    if source in ready:
        piece = os.read(source, 65536)
        if not piece:
            os._exit(0)
        unread += piece
        while len(unread) >= 4:
            size = 4 + int.from_bytes(unread[:4], 'big')
            if len(unread) < size:
                break
            frame, unread = unread[4:size], unread[size:]
            receive(frame)
            # Ends are told between starts.
            reap()
            if events:
                flush()
    reap()
    if events or len(started) >= 16 or not ready:
        flush()

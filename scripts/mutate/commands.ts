import { gitMutations } from './git.ts'
import type { Mutation } from './types.ts'

const compileBinds = 'packages/core/src/commands/binds/compile-binds.ts'
const places = 'packages/sandbox/src/reserve/places.pl'
const entries = 'packages/sandbox/src/reserve/entries.pl'
const watching = 'packages/sandbox/src/reserve/watch.pl'
const seccomp = 'packages/sandbox/src/seccomp/programs.ts'
const trace = 'packages/sandbox/src/hide/trace.pl'
const loader = 'packages/sandbox/src/loader/loader.pl'

/** Commands. */
export const commandMutations: readonly Mutation[] = [
  {
    row: 'open, `..`, links, hard links, `/proc/self/root`, `open_by_handle_at` to reach outside',
    removes: 'the emptiness of the mount namespace',
    changes: [
      {
        file: 'packages/executor-bubblewrap/src/tree-arguments.ts',
        text: "    ...(command.direct === undefined ? ['--remount-ro', '/'] : []),",
        by: "    ...['--ro-bind', '/tmp', '/tmp'], ...(command.direct === undefined ? ['--remount-ro', '/'] : []),",
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/escape.test.ts', title: 'are closed' },
  },
  {
    row: 'new namespaces, mounts, modules, keys, tracing, terminal injection, 32-bit calls',
    removes: 'the refusal of new namespaces',
    changes: [{ file: seccomp, text: "    ...call('clone', refuseBits(0, newNamespaces | untracedChild)),\n", by: '' }],
    test: { file: 'packages/sandbox/test/seccomp.test.ts' },
  },
  {
    row: 'new namespaces, mounts, modules, keys, tracing, terminal injection, 32-bit calls',
    removes: 'the list of refused calls',
    changes: [
      {
        file: seccomp,
        text: '...answerAll(lists.refused, EPERM, architecture)',
        by: '...answerAll([], EPERM, architecture)',
      },
    ],
    test: { file: 'packages/sandbox/test/seccomp.test.ts' },
  },
  {
    row: 'one command that takes all of a count of the machine or of its user: contexts of asynchronous I/O, fanotify groups, descriptors on their way between processes',
    removes: 'the refusal of the calls',
    changes: [{ file: seccomp, text: '[...lists.opaque, ...lists.counted]', by: '[...lists.opaque]' }],
    test: { file: 'packages/sandbox/test/seccomp.test.ts', title: 'a count of the machine' },
  },
  {
    row: 'one command that takes all of a count of the machine or of its user: contexts of asynchronous I/O, fanotify groups, descriptors on their way between processes',
    removes: 'the rights of root when sockets are handed over',
    changes: [
      {
        file: 'packages/sandbox/src/listen/listen.pl',
        text: 'return if $net && syscall($setns, fileno $net, 0x40000000) == 0;',
        by: '',
      },
    ],
    test: { file: 'packages/sandbox/test/listen/listener.test.ts', title: 'come as well from root' },
  },
  {
    row: 'a setuid file or a device left for the host, by renaming too (`RENAME_WHITEOUT`)',
    removes: 'the refusal of setuid bits',
    changes: [{ file: seccomp, text: "    ...call('chmod', refuseBits(1, setIdBits)),\n", by: '' }],
    test: { file: 'packages/sandbox/test/seccomp.test.ts' },
  },
  {
    row: 'a setuid file or a device left for the host, by renaming too (`RENAME_WHITEOUT`)',
    removes: 'the refusal to run as root',
    changes: [
      {
        file: 'packages/sandbox/src/executor/owner.ts',
        text: 'if (uid === 0) return {',
        by: 'if (uid === -1) return {',
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/executor.test.ts', title: 'never runs as root' },
  },
  {
    row: 'a setuid file or a device left for the host, by renaming too (`RENAME_WHITEOUT`)',
    removes: 'the refusal of whiteouts',
    changes: [{ file: seccomp, text: "    ...call('renameat2', refuseBits(4, renameWhiteout)),\n", by: '' }],
    test: { file: 'packages/sandbox/test/seccomp.test.ts' },
  },
  {
    row: 'a Unix socket of the host, abstract or by its path',
    removes: 'the network namespace',
    changes: [
      {
        file: 'packages/executor-bubblewrap/src/tree-arguments.ts',
        text: "...(network === 'host' ? ['--share-net'] : [])",
        by: "...['--share-net']",
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/escape.test.ts', title: 'are closed' },
  },
  {
    row: 'a Unix socket of the host, abstract or by its path',
    removes: 'the refusal to make one',
    changes: [{ file: seccomp, text: 'options.unixSockets ? [unixFamily,', by: 'true ? [unixFamily,' }],
    test: { file: 'packages/executor-bubblewrap/test/escape.test.ts', title: 'a socket in the workspace' },
  },
  {
    row: 'memory, semaphores and message queues of the host (System V, POSIX)',
    removes: 'the refusal of the calls',
    changes: [
      { file: seccomp, text: 'options.interprocess ? [] : lists.interprocess', by: 'options.interprocess ? [] : []' },
    ],
    test: { file: 'packages/sandbox/test/seccomp.test.ts' },
  },
  {
    row: 'memory, semaphores and message queues of the host (System V, POSIX)',
    removes: 'the IPC namespace',
    changes: [{ file: 'packages/executor-proot/src/command-line.ts', text: "'--ipc', ", by: '' }],
    test: { file: 'apps/tests-commands/test/escapes/escapes.test.ts', title: 'proot at /workspace, Landlock' },
  },
  {
    row: 'extended attributes, access lists and flags in a read-only mount that Landlock holds',
    removes: 'their filter',
    changes: [
      {
        file: 'packages/executor-proot/src/attach.ts',
        text: "attributeChanges: !plan.binds.some(({ kind, access }) => kind === 'mount' && access === 'read-only'),",
        by: 'attributeChanges: true,',
      },
    ],
    test: { file: 'apps/tests-commands/test/escapes/escapes.test.ts', title: 'proot at /workspace, Landlock' },
  },
  {
    row: 'renaming an ancestor of a protected part and building it anew',
    removes: 'the pins',
    changes: [
      {
        file: 'packages/core/src/commands/binds/bind-list.ts',
        text: '      this.pins.set(path,',
        by: '      if (path.length === 0) this.pins.set(path,',
      },
    ],
    test: { file: 'packages/core/test/commands/compile-binds.test.ts' },
  },
  {
    row: 'a protected name that does not exist yet',
    removes: 'the reservation of missing names',
    changes: [
      {
        file: compileBinds,
        text: "      if (found === 'missing') missing = missingName(node, mount)\n",
        by: "      if (found === 'missing') return around\n",
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/reserve.test.ts', title: 'cannot be made' },
  },
  {
    row: 'a name that a rule by pattern denies or protects, anywhere in the tree',
    removes: 'the look at the stamp of a directory that was looked into before',
    changes: [
      {
        file: 'packages/core/src/commands/binds/tree-walk.ts',
        text: 'if (before?.stamp !== stamp) {',
        by: 'if (before === undefined) {',
      },
    ],
    test: { file: 'packages/adapter-local/test/pattern-walk.test.ts', title: 'after any change' },
  },
  {
    row: 'a name that a rule by pattern denies or protects, anywhere in the tree',
    removes: 'the word to remember nothing of a directory in which a name is hidden',
    changes: [
      {
        file: 'packages/adapter-local/src/read/listing.ts',
        text: '    this.#options.known?.(path, undefined)\n',
        by: '',
      },
    ],
    test: { file: 'packages/adapter-local/test/pattern-walk.test.ts', title: 'a reserved name is hidden' },
  },
  {
    row: 'a name that a rule by pattern denies or protects, anywhere in the tree',
    removes: 'the walk',
    changes: [
      {
        file: compileBinds,
        text: 'options.interpreted ? []',
        by: '!options.interpreted ? []',
      },
    ],
    test: { file: 'packages/core/test/commands/compile-binds.test.ts', title: 'covers what matches' },
  },
  {
    row: 'a reserved name that a command of another workspace exchanges for a link while it is made',
    removes: 'the descriptors: mode, time and owner are set by name',
    changes: [
      {
        file: entries,
        text: 'return 0 if syscall($n{fchmod}, $own, $mode) < 0',
        by: 'chmod($mode, "/proc/self/fd/$e->{fd}/$e->{place}"); return 0 if syscall($n{fchmod}, $own, $mode) < 0',
      },
    ],
    test: { file: 'packages/sandbox/test/reserve/exchange.test.ts' },
  },
  {
    row: 'a reserved name that a command keeps from being removed, by the mode of its directory',
    removes: 'the note that stays',
    changes: [{ file: places, text: '$left = 1; leave_note($e->{file})', by: 'forget($e->{file})' }],
    test: { file: 'packages/sandbox/test/reserve/left.test.ts' },
  },
  {
    row: 'a reserved name that a command keeps from being removed, by the mode of its directory',
    removes: 'the moment in which its user may write there',
    changes: [{ file: entries, text: 'return $error == 13 ? inside($fd, $try) : $error;', by: 'return $error;' }],
    test: { file: 'packages/sandbox/test/reserve/left.test.ts' },
  },
  {
    row: 'a temporary file that a killed process leaves in the workspace',
    removes: 'the directories below the root',
    changes: [
      {
        file: 'packages/adapter-local/src/confine/sweep-at-start.ts',
        text: 'deep ? mostDirectories : 0',
        by: 'deep ? 0 : 0',
      },
    ],
    test: { file: 'packages/adapter-local/test/write.test.ts', title: 'one left by a killed process is swept' },
  },
  {
    row: 'a temporary directory of thousands of levels, so that it stays and slows each later start',
    removes: 'the end of what is open',
    changes: [{ file: 'packages/process/src/run/remove-tree.ts', text: 'mostOpen = 32', by: 'mostOpen = 3_200' }],
    test: { file: 'packages/process/test/remove-tree.isolated.test.ts', title: 'holds few descriptors' },
  },
  {
    row: 'a temporary directory of thousands of levels, so that it stays and slows each later start',
    removes: 'the comparison with the directory that was entered',
    changes: [
      {
        file: 'packages/process/src/run/remove-tree.ts',
        text: 'if (identityOf(fd) === level.identity)',
        by: 'if (identityOf(fd) !== "")',
      },
    ],
    test: { file: 'packages/process/test/remove-tree.isolated.test.ts', title: 'what was emptied lies elsewhere' },
  },
  {
    row: 'a temporary directory that cannot be removed, so that each later start tries it again',
    removes: 'the mark that it was tried',
    changes: [
      {
        file: 'packages/adapter-local/src/create.ts',
        text: 'pathOfDescriptor(task.tree.fd), givenUpMode',
        by: 'pathOfDescriptor(task.tree.fd), 0o700',
      },
    ],
    test: { file: 'packages/adapter-local/test/left-scratch.isolated.test.ts' },
  },
  {
    row: 'a directory that commands used, exchanged for a link while this process removes it',
    removes: 'the refusal of links',
    changes: [
      {
        file: 'packages/process/src/run/remove-tree.ts',
        text: 'constants.O_DIRECTORY | constants.O_NOFOLLOW',
        by: 'constants.O_DIRECTORY',
      },
    ],
    test: { file: 'packages/process/test/remove-tree.isolated.test.ts', title: 'goes nowhere else' },
  },
  {
    row: "a user's file or directory taken for a reserved name, and removed",
    removes: 'the comparison with what was noted',
    changes: [{ file: entries, text: '    return 0 unless fits($s, $e);\n', by: '' }],
    test: { file: 'packages/sandbox/test/reserve/reserve.test.ts', title: 'never remove what somebody put there' },
  },
  {
    row: 'a reserved name that a caller of the file API sees, or that a killed process leaves',
    removes: 'the look at files that hold names',
    changes: [
      {
        file: 'packages/sandbox/src/reserve/journal.ts',
        text: "return found.some(({ kind, mtimeNs }) => kind === 'file' && status.mtimeNs === mtimeNs)",
        by: 'return false',
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/reserve.test.ts', title: 'held by a file' },
  },
  ...gitMutations,
  {
    row: 'a reserved name that a caller of the file API sees, or that a killed process leaves',
    removes: 'the look at the list of reserved names',
    changes: [
      {
        file: 'packages/adapter-local/src/confine/reserved.ts',
        text: 'return reservedNames.holds(status, self)',
        by: 'return status.isFile() && reservedNames.holds(status, self)',
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/reserve.test.ts', title: 'are shown by no operation' },
  },
  {
    row: 'a reserved name that a caller of the file API sees, or that a killed process leaves',
    removes: 'the sweep',
    changes: [{ file: places, text: '      $error = take($fd, $name, $e, @all);\n', by: '' }],
    test: { file: 'packages/sandbox/test/reserve/reserve.test.ts', title: 'are swept at the next start' },
  },
  {
    row: "the system's names at `/`, which commands would walk, commit, archive or remove with the workspace",
    removes: 'the look for these names in what was read',
    changes: [
      {
        file: trace,
        text: 'return if $read !~ $any;',
        by: 'return;',
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/direct.test.ts', title: 'shows at / to every program' },
  },
  {
    row: 'a signal in the middle of a listing, after which a program sees a part of a directory and ends well',
    removes: 'the answer of the kernel: the call fails as if a signal had broken it off',
    changes: [
      {
        file: trace,
        text: '$waiting{$tid} = [$fd, $call, $memory];\n  return go($SYSCALL, $tid);',
        by: 'registers($GETREGS, $tid); place($n{result}, -4); place($n{number}, -1); registers($SETREGS, $tid); go($CONT, $tid)',
      },
    ],
    test: { file: 'packages/sandbox/test/hide/hide.test.ts', title: 'lists everything while signals come' },
  },
  {
    row: 'a caller that the tracer cannot look at: an unreadable program, a child that nobody traces (`CLONE_UNTRACED`), a filter of its own',
    removes: 'the refusal of a child that nobody traces',
    changes: [{ file: seccomp, text: 'newNamespaces | untracedChild', by: 'newNamespaces' }],
    test: { file: 'packages/sandbox/test/seccomp.test.ts', title: 'a child that a tracer would not see' },
  },
  {
    row: 'a caller that the tracer cannot look at: an unreadable program, a child that nobody traces (`CLONE_UNTRACED`), a filter of its own',
    removes: 'the look at the mark of our own filter',
    changes: [{ file: trace, text: 'return absent($tid) if $ordered != $mark;', by: '' }],
    test: { file: 'packages/sandbox/test/hide/hide.test.ts', title: 'answers ENOSYS' },
  },
  {
    row: 'the death of what answers these calls, at which a command would see something else and end well',
    removes: 'the error of a sandbox that was killed',
    changes: [
      {
        file: 'packages/executor-bubblewrap/src/running.ts',
        text: 'if (killed || (exitCode === undefined && sent.size === 0)) throw',
        by: 'if (!killed && killed) throw',
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/direct-hostile.test.ts', title: 'ends with EIO' },
  },
  {
    row: 'a mask that is lost while a command runs, since a program on the host replaced the file',
    removes: 'the watch of the mount table',
    changes: [
      {
        file: watching,
        text: 'return lost($id, $w, $i) unless defined $points->{$mount} &&',
        by: 'return lost($id, $w, $i) unless 1 || defined $points->{$mount} &&',
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/reserve.test.ts', title: 'a mask that is lost ends the command' },
  },
  {
    row: "a link as a component of a bind's destination",
    removes: 'the look at links when rules are compiled',
    changes: [
      {
        file: 'packages/core/src/commands/binds/disk-look.ts',
        text: "    if (error instanceof LinkSignal) return 'link'\n",
        by: "    if (error instanceof LinkSignal) return 'directory'\n",
      },
    ],
    test: { file: 'packages/core/test/commands/compile-binds.test.ts' },
  },
  {
    row: "a link as a component of a bind's destination",
    removes: 'the comparison of an opened source with its name',
    changes: [
      {
        file: 'packages/sandbox/src/view/bind-source.ts',
        text: 'const problem = same ?',
        by: 'const problem = same || !same ?',
      },
    ],
    test: { file: 'packages/sandbox/test/view/bind-source.test.ts' },
  },
  {
    row: "a bind's source or destination exchanged during the start",
    removes: 'the comparison of the mount table',
    changes: [
      { file: 'packages/executor-bubblewrap/src/sandbox.ts', text: '    check(child)\n', by: '    void check\n' },
    ],
    test: { file: 'packages/executor-bubblewrap/test/mount-check.isolated.test.ts' },
  },
  {
    row: 'the alias as a second way to a masked file',
    removes: 'the repetition of every bind below the alias',
    changes: [
      {
        file: 'packages/executor-bubblewrap/src/layout.ts',
        text: '      own.push(placed(bind, below(prefix, place(bind.at)), own))',
        by: "      if (bind.kind !== 'mask' || prefix === '') own.push(placed(bind, below(prefix, place(bind.at)), own))",
      },
    ],
    test: { file: 'packages/executor-bubblewrap/test/view.test.ts', title: 'alias' },
  },
  {
    row: "beating proot's translation by a race",
    removes: 'Landlock',
    changes: [
      {
        file: 'packages/executor-proot/src/attach.ts',
        text: 'landlock: landlock ? {',
        by: 'landlock: landlock && run === undefined ? {',
      },
    ],
    test: { file: 'packages/executor-proot/test/boundaries.test.ts', title: 'lists nothing outside' },
  },
  {
    row: 'system calls that proot does not translate',
    removes: 'their filter',
    changes: [{ file: seccomp, text: 'options.forProot ? lists.untranslated : []', by: 'options.forProot ? [] : []' }],
    test: { file: 'packages/sandbox/test/seccomp.test.ts' },
  },
  {
    row: 'a step of confinement that fails',
    removes: 'the end of the loader',
    changes: [{ file: loader, text: 'fail($step) if $r < 0; return $r }', by: 'return $r }' }],
    test: { file: 'packages/sandbox/test/loader.test.ts' },
  },
  {
    row: "the parent's environment, `LD_PRELOAD`, `PERL5OPT`",
    removes: 'the list of what is inherited',
    changes: [
      {
        file: 'packages/process/src/environment/clean.ts',
        text: 'return (name) => names.has(name) ||',
        by: 'return (name) => name !== undefined || names.has(name) ||',
      },
    ],
    test: { file: 'packages/process/test/environment.test.ts' },
  },
  {
    row: "a tool's directory that a command exchanges for a link to files of the host, which the next command sees",
    removes: 'the look at the path as it was given',
    changes: [
      {
        file: 'packages/sandbox/src/view/tools.ts',
        text: 'const exchangeable = [given, host].map(',
        by: 'const exchangeable = [host, given].slice(0, 1).map(',
      },
    ],
    test: { file: 'apps/tests-commands/test/tools/tools.test.ts', title: 'could have exchanged' },
  },
  {
    row: "a tool's directory that a command exchanges for a link to files of the host, which the next command sees",
    removes: 'the links in the walk: names alone are compared',
    changes: [
      {
        file: 'packages/sandbox/src/view/host-way.ts',
        text: '    if (target === undefined) current = next\n',
        by: '    if (target !== null) current = next\n',
      },
    ],
    test: { file: 'apps/tests-commands/test/tools/tools.test.ts', title: 'could have exchanged' },
  },
  {
    row: "secrets in the host's `/etc`",
    removes: 'the choice of files',
    changes: [
      {
        file: 'packages/sandbox/src/view/etc.ts',
        text: "  'ld.so.cache',\n",
        by: "  'ld.so.cache',\n  'environment',\n  'resolv.conf',\n",
      },
    ],
    test: { file: 'packages/sandbox/test/view/system-tree.test.ts' },
  },
  {
    row: 'files that earlier commands left, in a command that acknowledges a rule',
    removes: 'the start without them',
    changes: [
      {
        file: 'packages/core/src/commands/commands.ts',
        text: '    bare: acknowledged.size > 0,\n',
        by: '    bare: false,\n',
      },
    ],
    test: { file: 'apps/tests-commands/test/rules/acknowledge.test.ts', title: 'runs nothing that was left' },
  },
  {
    row: 'injection through the command line',
    removes: 'the element of its own',
    changes: [
      {
        file: 'packages/process/src/shell/arguments.ts',
        text: "return [shell, options.login === false ? '-c' : '-lc', command]",
        by: "return [shell, options.login === false ? '-c' : '-lc', `eval \"${command}\"`]",
      },
    ],
    test: { file: 'packages/process/test/shell.test.ts' },
  },
  {
    row: 'processes that survive (`setsid`, double fork, ignoring TERM)',
    removes: 'the end of every orphan',
    changes: [{ file: 'packages/sandbox/src/loader/supervise.pl', text: "    kill('KILL', keys %seen);\n", by: '' }],
    test: { file: 'packages/sandbox/test/supervised-tree.test.ts' },
  },
  {
    row: 'killing proot, so that a command which then failed half-way looks like one that ended',
    removes: 'the look at what only the view has',
    changes: [
      {
        file: 'packages/executor-proot/src/first-process.pl',
        text: 'exit 0 unless @etc && "$etc[0]:$etc[1]" eq $own;',
        by: '',
      },
    ],
    test: { file: 'packages/executor-proot/test/probe.test.ts', title: 'the tracer still translates' },
  },
  {
    row: 'output without end',
    removes: 'the limit of the tail',
    changes: [
      {
        file: 'packages/process/src/run/capture.ts',
        text: 'createRing(options.maxBytes - headLimit)',
        by: 'createRing(options.maxBytes * 100)',
      },
    ],
    test: { file: 'packages/process/test/capture.test.ts' },
  },
  {
    row: 'a regular expression that never ends',
    removes: 'the bound on what is searched in one turn',
    changes: [
      { file: 'packages/text-search/src/pattern.ts', text: 'const maxSteps = 60_000\n', by: 'const maxSteps = 6e12\n' },
    ],
    test: { file: 'packages/text-search/test/bounds.test.ts', title: 'takes too long' },
  },
  {
    row: 'a PDF or source that never ends, or that fills the memory',
    removes: 'the watch over the memory of the thread',
    changes: [
      {
        file: 'packages/documents/src/threads/thread.ts',
        text: 'if (used_heap_size + external_memory > this.#maxMemory)',
        by: 'if (this.#maxMemory === 0)',
      },
    ],
    test: { file: 'packages/documents/test/pdf.test.ts', title: 'that is a bomb is EFBIG' },
  },
  {
    row: 'a glob that never ends',
    removes: 'the bound on what is compared with every name',
    changes: [
      {
        file: 'packages/core/src/glob/glob.ts',
        text: 'export const maxGlobCost = 300\n',
        by: 'export const maxGlobCost = 1e9\n',
      },
    ],
    test: { file: 'packages/core/test/glob/glob.test.ts', title: 'is EINVAL' },
  },
  {
    row: 'a command line that takes long to judge',
    removes: 'the bound on its parts',
    changes: [
      {
        file: 'packages/command-parser/src/parse.ts',
        text: 'const maxParts = 10_000\n',
        by: 'const maxParts = 1e9\n',
      },
    ],
    test: { file: 'packages/command-parser/test/commands.test.ts', title: 'too many parts' },
  },
  {
    row: 'a change that remembered names of a directory would hide from the next walk',
    removes: 'the comparison of the time of change',
    changes: [
      {
        file: 'packages/adapter-local/src/read/known-entries.ts',
        text: 'if (known.ctimeNs === ctimeNs) {',
        by: 'if (known.ctimeNs > 0n) {',
      },
    ],
    test: { file: 'packages/adapter-local/test/known-entries.test.ts', title: 'after each kind of change' },
  },
]

import type { Mutations } from '../types.ts'

export const commandMutations: Mutations = {
  "a directory `lib` or `bin` of the workspace at `/`: commands would see the machine's, and callers the workspace's": [
    {
      removes: 'the look at the names before each command',
      file: 'packages/kernel/core/src/commands/admission.ts',
      text: '    await requireNames(context.mounts, executor.needs)\n',
      title: 'once they have appeared',
    },
    {
      removes: 'the refusal to make something at them',
      text: 'if (node.reserved || this.#refuses(node, { operation, path, need })) throw',
      by: 'if (node.reserved) throw',
      title: 'are made by no operation',
    },
    {
      removes: 'the look at the names when the root cannot be had itself',
      text: ' || takenName(plan, hidden) !== undefined',
      test: 'packages/executors/bubblewrap/test/names-at-root.test.ts',
    },
  ],
  'a program of the workspace at `/bin`, in whose place the interpreter would run its own of that name': [
    {
      removes: 'the preference for programs of the workspace',
      text: '      preferOwnPrograms(bash, files)\n',
      test: 'packages/executors/virtual/test/own-names.test.ts',
      title: 'are its own: bin/test',
    },
  ],
  'open, `..`, links, hard links, `/proc/self/root`, `open_by_handle_at` to reach outside': [
    {
      removes: 'the emptiness of the mount namespace',
      text: "    ...(command.direct === undefined ? ['--remount-ro', '/'] : []),",
      by: "    ...['--ro-bind', '/tmp', '/tmp'], ...(command.direct === undefined ? ['--remount-ro', '/'] : []),",
      title: 'are closed',
    },
  ],
  'new namespaces, mounts, modules, keys, tracing, terminal injection, 32-bit calls': [
    {
      removes: 'the refusal of new namespaces',
      file: 'packages/kernel/sandbox/src/confine/seccomp/programs.ts',
      text: "    ...call('clone', refuseBits(0, newNamespaces | untracedChild)),\n",
      test: 'packages/kernel/sandbox/test/confine/seccomp.test.ts',
    },
    {
      removes: 'the list of refused calls',
      file: 'packages/kernel/sandbox/src/confine/seccomp/programs.ts',
      text: '...answerAll(lists.refused, EPERM, architecture)',
      by: '...answerAll([], EPERM, architecture)',
      test: 'packages/kernel/sandbox/test/confine/seccomp.test.ts',
    },
  ],
  'one command that takes all of a count of the machine or of its user: contexts of asynchronous I/O, fanotify groups, descriptors on their way between processes':
    [
      {
        removes: 'the refusal of the calls',
        file: 'packages/kernel/sandbox/src/confine/seccomp/programs.ts',
        text: '[...lists.opaque, ...lists.counted]',
        by: '[...lists.opaque]',
        title: 'a count of the machine',
      },
      {
        removes: 'the rights of root when sockets are handed over',
        text: 'return if $net && syscall($setns, fileno $net, 0x40000000) == 0;',
        title: 'come as well from root',
      },
    ],
  'a setuid file or a device left for the host, by renaming too (`RENAME_WHITEOUT`)': [
    {
      removes: 'the refusal of setuid bits',
      text: "    ...call('chmod', refuseBits(1, setIdBits)),\n",
      test: 'packages/kernel/sandbox/test/confine/seccomp.test.ts',
    },
    {
      removes: 'the refusal to run as root',
      text: 'if (uid === 0) return {',
      by: 'if (uid === -1) return {',
      title: 'never runs as root',
    },
    {
      removes: 'the refusal of whiteouts',
      text: "    ...call('renameat2', refuseBits(4, renameWhiteout)),\n",
      test: 'packages/kernel/sandbox/test/confine/seccomp.test.ts',
    },
  ],
  'a Unix socket of the host, abstract or by its path': [
    {
      removes: 'the network namespace',
      text: "...(network === 'host' ? ['--share-net'] : [])",
      by: "...['--share-net']",
      title: 'are closed',
    },
    {
      removes: 'the refusal to make one',
      text: 'options.unixSockets ? [unixFamily,',
      by: 'true ? [unixFamily,',
      title: 'a socket in the workspace',
    },
  ],
  'memory, semaphores and message queues of the host (System V, POSIX)': [
    {
      removes: 'the refusal of the calls',
      file: 'packages/kernel/sandbox/src/confine/seccomp/programs.ts',
      text: 'options.interprocess ? [] : lists.interprocess',
      by: 'options.interprocess ? [] : []',
      test: 'packages/kernel/sandbox/test/confine/seccomp.test.ts',
    },
    { removes: 'the IPC namespace', text: "'--ipc', ", title: 'proot at /workspace, Landlock' },
  ],
  'extended attributes, access lists and flags in a read-only mount that Landlock holds': [
    {
      removes: 'their filter',
      text: "attributeChanges: !plan.binds.some(({ kind, access }) => kind === 'mount' && access === 'read-only'),",
      by: 'attributeChanges: true,',
      title: 'proot at /workspace, Landlock',
    },
  ],
  'renaming an ancestor of a protected part and building it anew': [
    {
      removes: 'the pins',
      text: '      this.pins.set({',
      by: '      if (path.length === 0) this.pins.set({',
      test: 'packages/kernel/core/test/commands/compile-binds.test.ts',
    },
  ],
  'a protected name that does not exist yet': [
    {
      removes: 'the reservation of missing names',
      text: "      if (found === 'missing') missing = missingName(node, mount)\n",
      by: "      if (found === 'missing') return around\n",
      title: 'cannot be made',
    },
  ],
  'a name that a rule by pattern denies or protects, anywhere in the tree': [
    {
      removes: 'the look at the stamp of a directory that was looked into before',
      text: 'if (stamp === undefined || known?.stamp !== stamp) {',
      by: 'if (known === undefined) {',
      title: 'after any change',
    },
    {
      removes: 'the word to remember nothing of a directory in which a name is hidden',
      file: 'packages/adapters/local/src/read/listing.ts',
      text: '    this.#options.onHidden?.(path)\n',
      title: 'a reserved name is hidden',
    },
    {
      removes: 'the walk',
      text: 'const matched = await coverMatches(compiler.list, options)',
      by: 'const matched = await coverMatches(new BindList(), options)',
      title: 'covers what matches',
    },
  ],
  'a reserved name that a command of another workspace exchanges for a link while it is made': [
    {
      removes: 'the descriptors: mode, time and owner are set by name',
      text: 'return 0 if syscall($n{fchmod}, $own, $mode) < 0',
      by: 'chmod($mode, "/proc/self/fd/$e->{fd}/$e->{place}"); return 0 if syscall($n{fchmod}, $own, $mode) < 0',
    },
  ],
  'a reserved name that a command keeps from being removed, by the mode of its directory': [
    { removes: 'the note that stays', text: '$left = 1; leave_note($e->{file})', by: 'forget($e->{file})' },
    {
      removes: 'the moment in which its user may write there',
      text: 'return $error == 13 ? inside($fd, $try) : $error;',
      by: 'return $error;',
    },
  ],
  'a temporary file that a killed process leaves in the workspace': [
    {
      removes: 'the directories below the root',
      text: 'deep ? mostDirectories : 0',
      by: 'deep ? 0 : 0',
      title: 'one left by a killed process is swept',
    },
  ],
  'a temporary directory of thousands of levels, so that it stays and slows each later start': [
    {
      removes: 'the end of what is open',
      text: 'mostOpen = 32',
      by: 'mostOpen = 3_200',
      title: 'holds few descriptors',
    },
    {
      removes: 'the comparison with the directory that was entered',
      text: 'if (identityOf(fd) === level.identity)',
      by: 'if (identityOf(fd) !== "")',
      title: 'what was emptied lies elsewhere',
    },
  ],
  'a temporary directory that cannot be removed, so that each later start tries it again': [
    {
      removes: 'the mark that it was tried',
      text: 'pathOfDescriptor(task.tree.fd), givenUpMode',
      by: 'pathOfDescriptor(task.tree.fd), 0o700',
      test: 'packages/adapters/local/test/left-scratch.isolated.test.ts',
    },
  ],
  'a directory that commands used, exchanged for a link while this process removes it': [
    {
      removes: 'the refusal of links',
      text: 'constants.O_DIRECTORY | constants.O_NOFOLLOW',
      by: 'constants.O_DIRECTORY',
      title: 'goes nowhere else',
    },
  ],
  "a user's file or directory taken for a reserved name, and removed": [
    {
      removes: 'the comparison with what was noted',
      text: '    return 0 unless fits($s, $e);\n',
      title: 'never remove what somebody put there',
    },
  ],
  'a reserved name that a caller of the file API sees, or that a killed process leaves': [
    {
      removes: 'the look at files that hold names',
      text: "return found.some(({ kind, mtimeNs }) => kind === 'file' && status.mtimeNs === mtimeNs)",
      by: 'return false',
      title: 'held by a file',
    },
    {
      removes: 'the look at the list of reserved names',
      text: 'return Reserve.reservedNames.holds(status, self)',
      by: 'return status.isFile() && reservedNames.holds(status, self)',
      title: 'are shown by no operation',
    },
    {
      removes: 'the sweep',
      file: 'packages/kernel/sandbox/src/reserve/places.pl',
      text: '      $error = take($fd, $name, $e, @all);\n',
      title: 'are swept at the next start',
    },
  ],
  'another name by which git, outside, finds a program to run: `commondir`, `config.worktree`, `remotes`, `.git` as a file, a repository that has another name':
    [
      { removes: 'the placeholder for `commondir`', text: "  commondir: { content: '.\\n' },\n", title: 'all at once' },
      {
        removes: 'the placeholders for `remotes` and `branches`',
        text: "  remotes: 'directory',\n  branches: 'directory',\n",
        title: 'all at once',
      },
      {
        removes: 'the look at repositories of another name',
        text: 'one.match(path) !== undefined || one.match(usual) !== undefined',
        by: 'one.match(path) !== undefined',
        title: 'all at once',
      },
      {
        removes: 'the hold on a file `.git`, in commands',
        text: "pattern.match(path, type !== 'directory')",
        by: 'pattern.match(path)',
        title: 'all at once',
      },
      {
        removes: 'the hold on a file `.git`, at the file API',
        text: "pattern.match(path, operation !== 'createDirectory')",
        by: 'pattern.match(path)',
        title: 'each name it lists',
      },
      {
        removes: '`commondir` from the names that the file API refuses',
        text: "'*.git/{hooks,config,config.worktree,commondir,remotes,branches}'",
        by: "'*.git/{hooks,config,config.worktree,remotes,branches}'",
        title: 'each name it lists',
      },
      {
        removes: 'the mode of a file that holds a name',
        text: 'file => 0444 }',
        by: 'file => 0644 }',
        title: 'hold their content',
      },
    ],
  "the system's names at `/`, which commands would walk, commit, archive or remove with the workspace": [
    {
      removes: 'the look for these names in what was read',
      text: 'return if $read !~ $any;',
      by: 'return;',
      title: 'shows at / to every program',
    },
  ],
  'a signal in the middle of a listing, after which a program sees a part of a directory and ends well': [
    {
      removes: 'the answer of the kernel: the call fails as if a signal had broken it off',
      text: '$waiting{$tid} = [$fd, $call, $memory];\n  return go($SYSCALL, $tid);',
      by: 'registers($GETREGS, $tid); place($n{result}, -4); place($n{number}, -1); registers($SETREGS, $tid); go($CONT, $tid)',
      title: 'lists everything while signals come',
    },
  ],
  'a caller that the tracer cannot look at: an unreadable program, a child that nobody traces (`CLONE_UNTRACED`), a filter of its own':
    [
      {
        removes: 'the refusal of a child that nobody traces',
        text: 'newNamespaces | untracedChild',
        by: 'newNamespaces',
        title: 'a child that a tracer would not see',
      },
      {
        removes: 'the look at the mark of our own filter',
        text: 'return absent($tid) if $ordered != $mark;',
        test: 'packages/executors/bubblewrap/test/hide.test.ts',
        title: 'answers ENOSYS',
      },
    ],
  'the death of what answers these calls, at which a command would see something else and end well': [
    {
      removes: 'the error of a sandbox that was killed',
      text: 'lost: shellStatus === undefined || exposure !== undefined || isTracerKilled,',
      by: 'lost: exposure !== undefined,',
      title: 'ends with EIO',
    },
  ],
  'a mask that is lost while a command runs, since a program on the host replaced the file': [
    {
      removes: 'the watch of the mount table',
      text: 'mend($id, $w, @lost) if @lost;',
      title: 'a mask that is lost ends the command',
    },
  ],
  'a file that the host saves, which a command takes before it is covered again: by a further name, by a descriptor, by a link in its place':
    [
      {
        removes: 'the look at further names',
        text: '$is_kept ||= $is_free && $now->{links} == 1;',
        by: '$is_kept ||= $is_free;',
        title: 'has a further name',
      },
      {
        removes: 'the look for what is open for writing',
        text: 'syscall($n{fcntl}, $file, 1024, 0) >= 0',
        by: '1',
        title: 'is open for writing',
      },
      {
        removes: 'the look at the type of the new entry, and at where the cover went',
        changes: [
          { text: "(pack('QQQ', 012000000, 0, 6), '')", by: "(pack('QQQ', 012000000, 0, 0), '')" },
          { text: 'elsif (@again && !$over) { mend($id, $w, @again) }\n' },
        ],
        title: 'is a link',
      },
    ],
  'a program on the host that replaces a protected file all the time, so that its cover is put back for ever': [
    {
      removes: 'the count of covers that are put back',
      text: ' || ++$w->{count} > $most',
      title: 'is replaced all the time',
    },
  ],
  'more protected parts than bubblewrap can mount, or an entry exchanged while they are mounted': [
    {
      removes: 'the covers in the finished tree',
      file: 'packages/executors/bubblewrap/src/start/start.ts',
      text: 'if (late.size > 0) {',
      by: 'if (late.size > 100_000) {',
      title: 'cover more than bubblewrap could mount',
    },
    {
      removes: 'the limit of parts',
      file: 'packages/kernel/core/src/commands/binds/cover-names.ts',
      text: 'if (parts.length > maxParts &&',
      by: 'if (parts.length > 100_000 &&',
      title: 'too many matches',
    },
  ],
  "a link as a component of a bind's destination": [
    {
      removes: 'the look at links when rules are compiled',
      file: 'packages/kernel/core/src/commands/binds/disk-look.ts',
      text: "    if (error instanceof LinkSignal) return 'link'\n",
      by: "    if (error instanceof LinkSignal) return 'directory'\n",
      test: 'packages/kernel/core/test/commands/compile-binds.test.ts',
    },
    {
      removes: 'the comparison of an opened source with its name',
      text: 'const problem = same ?',
      by: 'const problem = same || !same ?',
      test: 'packages/kernel/sandbox/test/view/bind-source.test.ts',
    },
  ],
  "a bind's source or destination exchanged during the start": [
    {
      removes: 'the comparison of the mount table',
      text: '    check(child)\n',
      by: '    void check\n',
      test: 'packages/executors/bubblewrap/test/mount-check.isolated.test.ts',
    },
  ],
  'the alias as a second way to a masked file': [
    {
      removes: 'the repetition of every bind below the alias',
      text: '      add(placed(bind, below(prefix, place(bind.at)), last))',
      by: "      if (bind.kind !== 'mask' || prefix === '') add(placed(bind, below(prefix, place(bind.at)), last))",
      test: 'packages/executors/bubblewrap/test/view.test.ts',
      title: 'alias',
    },
  ],
  "beating proot's translation by a race": [
    {
      removes: 'Landlock',
      file: 'packages/executors/proot/src/attach.ts',
      text: 'landlock: hasLandlock ? {',
      by: 'landlock: hasLandlock && run === undefined ? {',
      title: 'lists nothing outside',
    },
  ],
  'system calls that proot does not translate': [
    {
      removes: 'their filter',
      text: 'options.forProot ? lists.untranslated : []',
      by: 'options.forProot ? [] : []',
      test: 'packages/kernel/sandbox/test/confine/seccomp.test.ts',
    },
  ],
  'a step of confinement that fails': [
    { removes: 'the end of the loader', text: 'fail($step) if $r < 0; return $r }', by: 'return $r }' },
  ],
  "the parent's environment, `LD_PRELOAD`, `PERL5OPT`": [
    {
      removes: 'the list of what is inherited',
      text: 'return (name) => names.has(name) ||',
      by: 'return (name) => name !== undefined || names.has(name) ||',
      test: 'packages/kernel/sandbox/test/view/clean-environment.test.ts',
    },
  ],
  "a tool's directory that a command exchanges for a link to files of the host, which the next command sees": [
    {
      removes: 'the look at the path as it was given',
      text: 'const exchangeable = [given, host].map(',
      by: 'const exchangeable = [host, given].slice(0, 1).map(',
      title: 'could have exchanged',
    },
    {
      removes: 'the links in the walk: names alone are compared',
      text: '    if (target === undefined) current = next\n',
      by: '    if (target !== null) current = next\n',
      title: 'could have exchanged',
    },
  ],
  "secrets in the host's `/etc`": [
    {
      removes: 'the choice of files',
      text: "  'ld.so.cache',\n",
      by: "  'ld.so.cache',\n  'environment',\n  'resolv.conf',\n",
      test: 'packages/kernel/sandbox/test/view/system-tree.test.ts',
    },
  ],
  'files that earlier commands left, in a command that acknowledges a rule': [
    {
      removes: 'the start without them',
      text: '    bare: acknowledged.size > 0,\n',
      by: '    bare: false,\n',
      title: 'runs nothing that was left',
    },
  ],
  'injection through the command line': [
    {
      removes: 'the element of its own',
      text: "return [shell, options.login === false ? '-c' : '-lc', command]",
      by: "return [shell, options.login === false ? '-c' : '-lc', `eval \"${command}\"`]",
    },
  ],
  'processes that survive (`setsid`, double fork, ignoring TERM)': [
    {
      removes: 'the end of every orphan',
      text: "    kill('KILL', keys %seen);\n",
      test: 'packages/kernel/sandbox/test/confine/supervised-tree.test.ts',
    },
  ],
  'killing proot, so that a command which then failed half-way looks like one that ended': [
    {
      removes: 'the look at what only the view has',
      file: 'packages/executors/proot/src/first-process.pl',
      text: 'exit 0 unless @etc && "$etc[0]:$etc[1]" eq $own;',
      title: 'the tracer still translates',
    },
  ],
  'output without end': [
    {
      removes: 'the limit of the tail',
      text: 'createRing(options.maxBytes - headLimit)',
      by: 'createRing(options.maxBytes * 100)',
    },
  ],
  'a regular expression that never ends': [
    {
      removes: 'the bound on what is searched in one turn',
      text: 'const maxSteps = 60_000\n',
      by: 'const maxSteps = 6e12\n',
      title: 'takes too long',
    },
  ],
  'a PDF or source that never ends, or that fills the memory': [
    {
      removes: 'the watch over the memory of the thread',
      text: 'if (used_heap_size + external_memory > this.#maxMemory)',
      by: 'if (this.#maxMemory === 0)',
      title: 'that is a bomb is EFBIG',
    },
  ],
  'a glob that never ends': [
    {
      removes: 'the bound on what is compared with every name',
      text: 'export const maxGlobCost = 300\n',
      by: 'export const maxGlobCost = 1e9\n',
      title: 'is EINVAL',
    },
  ],
  'a command line that takes long to judge': [
    {
      removes: 'the bound on its parts',
      text: 'const maxParts = 10_000\n',
      by: 'const maxParts = 1e9\n',
      title: 'too many parts',
    },
  ],
  'a change that remembered names of a directory would hide from the next walk': [
    {
      removes: 'the comparison of the time of change',
      text: 'if (known.ctimeNs !== ctimeNs) {',
      by: 'if (known.ctimeNs < 0n) {',
      title: 'after each kind of change',
    },
  ],
  'a change that the watch of a tree does not tell: a directory moved in or out, exchanged or made again, a full queue, too few watches, a mount':
    [
      {
        removes: 'the end of knowledge at a full queue',
        text: '      $lost ||= $watch < 0;\n',
        title: 'after more changes than the kernel notes',
      },
      {
        removes: 'the look at the mount table',
        text: 'my $lost = is_changed($tree) && mounts($tree) ne $tree->{mounts};',
        by: 'my $lost = 0;',
        title: 'after a mount in it',
      },
      {
        removes: 'what lies below a directory that moved',
        text: '    this.#dropMoved()\n',
        test: 'packages/kernel/sandbox/test/watch/tree-watch.test.ts',
        title: 'whose entries, mode or name changed',
      },
      {
        removes: 'the second reading of directories that were read before they were watched',
        text: '  if (watch !== undefined && directories.size >= fewestWatched) watchAll(watch, unsure)\n',
        by: '  if (watch !== undefined && directories.size >= fewestWatched) watchAll(watch, unsure), (unsure as Set<MountPath>).clear()\n',
        title: 'before they were watched',
      },
      {
        removes: 'the paths that may have got another directory',
        text: '  for (const path of replaced) drop(path)\n',
        title: 'exchanged, moved in or out, or made again',
      },
    ],
}

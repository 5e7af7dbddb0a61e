import type { Mutations } from '../types.ts'

export const commandMutations: Mutations = {
  "a directory `lib` or `bin` of the workspace at `/`: commands would see the machine's, and callers the workspace's": [
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
  'a Unix socket of the host, abstract or by its path': [
    {
      removes: 'the network namespace',
      text: "return typeof network === 'object' ? enterArguments(network) : []",
      by: 'return []',
      title: 'are closed',
    },
    {
      removes: 'the refusal to make one',
      text: 'options.unixSockets ? [unixFamily,',
      by: 'true ? [unixFamily,',
      title: 'a socket in the workspace',
    },
  ],
  'extended attributes, access lists and flags in a read-only mount that Landlock holds': [
    {
      removes: 'their filter',
      text: "attributeChanges: !plan.binds.some(({ kind, access }) => kind === 'mount' && access === 'read-only'),",
      by: 'attributeChanges: true,',
      title: 'proot at /workspace, Landlock',
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
  ],
  'another name by which git, outside, finds a program to run: `commondir`, `config.worktree`, `remotes`, `.git` as a file, a repository that has another name':
    [
      {
        removes: 'the mode of a file that holds a name',
        text: 'file => 0444 }',
        by: 'file => 0644 }',
        title: 'hold their content',
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
    ],
  'the death of what answers these calls, at which a command would see something else and end well': [
    {
      removes: 'the error of a sandbox that was killed',
      text: 'lost: shellStatus === undefined || exposure !== undefined || isTracerKilled,',
      by: 'lost: exposure !== undefined,',
      title: 'ends with EIO',
    },
  ],
  'a file that the host saves, which a command takes before it is covered again: by a further name, by a descriptor, by a link in its place':
    [
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
  'injection through the command line': [
    {
      removes: 'the element of its own',
      text: "return [shell, options.login === false ? '-c' : '-lc', command]",
      by: "return [shell, options.login === false ? '-c' : '-lc', `eval \"${command}\"`]",
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
        removes: 'the look at the mount table',
        text: 'my $lost = is_changed($tree) && mounts($tree) ne $tree->{mounts};',
        by: 'my $lost = 0;',
        title: 'after a mount in it',
      },
      {
        removes: 'the second reading of directories that were read before they were watched',
        text: '  if (watch !== undefined && directories.size >= fewestWatched) watchAll(watch, unsure)\n',
        by: '  if (watch !== undefined && directories.size >= fewestWatched) watchAll(watch, unsure), (unsure as Set<MountPath>).clear()\n',
        title: 'before they were watched',
      },
    ],
}

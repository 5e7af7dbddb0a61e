/** A program that starts another program. The wrapper's own options come before the name of that program. */
export interface Wrapper {
  /** Options that take a value: in the next word, after `=` (long), or attached (short). */
  readonly values: readonly string[]
  readonly flags: readonly string[]
  /** Number of operands before the program: `timeout 5 cmd`. Default 0. */
  readonly operands?: number | undefined
  /** True if `NAME=value` may come before the program. */
  readonly assignments?: true | undefined
  /** True if the wrapper appends arguments that are not in the line. */
  readonly adds?: true | undefined
}

const none: Wrapper = { values: [], flags: [] }

/** Programs and builtins that run their arguments as a command. A line with an unlisted option is refused as unreadable. */
export const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    values: ['-u', '--unset', '-C', '--chdir', '--argv0', '-a'],
    flags: ['-i', '-', '--ignore-environment', '-0', '--null', '-v', '--debug'],
    assignments: true,
  },
  sudo: {
    values: [
      '-u',
      '--user',
      '-g',
      '--group',
      '-h',
      '--host',
      '-p',
      '--prompt',
      '-C',
      '-D',
      '--chdir',
      '-r',
      '-t',
      '-T',
      '-R',
      '-U',
    ],
    flags: [
      '-A',
      '-b',
      '-E',
      '-H',
      '-n',
      '-P',
      '-S',
      '-i',
      '-s',
      '-k',
      '--preserve-env',
      '--login',
      '--shell',
      '--non-interactive',
    ],
    assignments: true,
  },
  doas: { values: ['-u', '-C', '-a'], flags: ['-n', '-s', '-L'] },
  nohup: none,
  setsid: { values: [], flags: ['-c', '-f', '-w', '--ctty', '--fork', '--wait'] },
  nice: { values: ['-n', '--adjustment'], flags: [] },
  ionice: { values: ['-c', '-n', '--class', '--classdata'], flags: ['-t', '--ignore'] },
  chrt: { values: [], flags: ['-b', '-f', '-i', '-o', '-r'], operands: 1 },
  taskset: { values: [], flags: ['-a', '-c'], operands: 1 },
  stdbuf: { values: ['-i', '-o', '-e', '--input', '--output', '--error'], flags: [] },
  timeout: {
    values: ['-k', '--kill-after', '-s', '--signal'],
    flags: ['--foreground', '--preserve-status', '-v', '--verbose', '-f', '-p'],
    operands: 1,
  },
  time: {
    values: ['-f', '--format', '-o', '--output'],
    flags: ['-p', '-v', '-a', '--portability', '--verbose', '--append'],
  },
  xargs: {
    values: [
      '-a',
      '--arg-file',
      '-d',
      '--delimiter',
      '-E',
      '-I',
      '-L',
      '--max-lines',
      '-n',
      '--max-args',
      '-P',
      '--max-procs',
      '-s',
      '--max-chars',
    ],
    flags: [
      '-0',
      '--null',
      '-r',
      '--no-run-if-empty',
      '-t',
      '--verbose',
      '-p',
      '--interactive',
      '-x',
      '--exit',
      '-o',
      '--open-tty',
      '-e',
      '-i',
      '-l',
      '--replace',
      '--eof',
    ],
    adds: true,
  },
  command: { values: [], flags: ['-p'] },
  builtin: none,
  exec: { values: ['-a'], flags: ['-c', '-l'] },
  busybox: none,
  toybox: none,
  noglob: none,
  nocorrect: none,
  repeat: { values: [], flags: [], operands: 1 },
  watch: {
    values: ['-n', '--interval'],
    flags: ['-d', '-t', '-e', '-g', '-b', '-c', '-x', '--differences', '--no-title', '--errexit'],
  },
  flock: {
    values: ['-w', '--timeout', '-E', '--conflict-exit-code'],
    flags: ['-s', '-x', '-e', '-n', '-u', '-o', '--shared', '--exclusive', '--nonblock', '--unlock', '--close', '--nb'],
    operands: 1,
  },
  chroot: { values: ['--userspec', '--groups'], flags: ['--skip-chdir'], operands: 1 },
  setpriv: { values: ['--reuid', '--regid', '--groups'], flags: ['--clear-groups', '--no-new-privs'] },
  strace: { values: ['-e', '-o', '-s', '-p'], flags: ['-f', '-ff', '-c', '-q', '-v', '-y'] },
}

/** Programs whose option `-c` takes a shell command line. */
export const shells: ReadonlySet<string> = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'ksh93',
  'mksh',
  'ash',
  'rbash',
])

/** Returns the index of the wrapped program in the arguments. `none`: the wrapper starts no program. `unknown`: the index is uncertain. */
export function findWrapped(
  wrapper: Wrapper,
  words: readonly (string | undefined)[],
): { readonly at: number } | 'none' | 'unknown' {
  let index = 0
  for (; index < words.length; index++) {
    const word = words[index]
    if (word === undefined) return 'unknown'
    if (word === '--') {
      index++
      break
    }
    if (!word.startsWith('-') || (word === '-' && !wrapper.flags.includes('-'))) break
    if (wrapper.flags.includes(word)) continue
    if (wrapper.values.includes(word)) index++
    else if (!isKnown(wrapper, word)) return 'unknown'
  }
  if (wrapper.assignments) while (/^[A-Za-z_]\w*=/.test(words[index] ?? '')) index++
  index += wrapper.operands ?? 0
  return index < words.length ? { at: index } : 'none'
}

function isKnown({ values, flags }: Wrapper, word: string): boolean {
  const equals = word.indexOf('=')
  if (word.startsWith('--')) return equals > 0 && [...values, ...flags].includes(word.slice(0, equals))
  // Parses `-n10`, `-I{}`, and combined flags such as `-0r`, of which the last may take a value.
  for (let index = 1; index < word.length; index++) {
    const option = `-${word[index]}`
    if (values.includes(option)) return index < word.length - 1
    if (!flags.includes(option)) return /^-\d+$/.test(word)
  }
  return true
}

import type { CommandRule, RefusedCommand } from './rule.ts'

const notTimes = 'the times of files cannot be set here'

/** Commands that make, change or describe files; those of our own have their options beside them. */
export const fileRules: Readonly<Record<string, CommandRule | RefusedCommand>> = {
  basename: { flags: 'a', valued: 's' },
  chmod: { flags: 'R' },
  cp: {
    flags: 'rRn',
    ignored: 'f',
    long: ['recursive'],
    refuse: ({ operands }) => (operands.length < 2 ? 'give a source and a destination' : undefined),
  },
  dirname: {},
  du: 'the file API does not know the space that files take; use `find . -type f -printf "%s\\n"`',
  file: 'kinds of content are not told apart here; use `head -c` and `od`',
  gunzip: { flags: 'c', refuse: onlyStreams },
  gzip: { flags: 'cd', refuse: onlyStreams },
  ln: {
    flags: 'sf',
    refuse: ({ options, operands }) => {
      if (!options.some(({ name }) => name === '-s')) return 'there are no hard links here; use -s, or cp'
      return operands.length === 2 ? undefined : 'give a target and the name of the link'
    },
  },
  mkdir: { flags: 'p', long: ['parents'] },
  readlink: { flags: 'f' },
  rmdir: { flags: 'p' },
  split: { valued: 'lba' },
  tar: { raw: true, refuse: ({ operands }) => refuseTar(operands) },
  tee: { flags: 'a' },
  touch: { flags: 'cm' },
  tree: 'it was not compared with the real command; use `find`',
  zcat: {},
}

function onlyStreams({ options, operands }: { options: readonly { name: string }[]; operands: readonly string[] }) {
  const toOutput = operands.length === 0 || options.some(({ name }) => name === '-c')
  return toOutput ? undefined : `${notTimes}; use -c and a redirection`
}

/** Reads archives; what it would write has other owners and times than GNU's. */
function refuseTar(given: readonly string[]): string | undefined {
  const [first = ''] = given
  const mode = first.replace(/^-/, '')
  if (first.startsWith('--') || !/^[tfzOxm]+$/.test(mode)) return `\`${first}\`: use tf, tzf, xmf, xmzf, xOf or xOzf`
  if (!mode.endsWith('f')) return 'put `f` last, and the archive behind it'
  if (mode.includes('x') && !/[mO]/.test(mode)) return `${notTimes}; use xmf, which leaves them`
  const operands = given.slice(2)
  const target = operands.indexOf('-C')
  const unknown = operands.find((operand, index) => operand.startsWith('-') && index !== target)
  if (unknown !== undefined) return `\`${unknown}\` is not known here`
  return target === -1 || target === operands.length - 2 ? undefined : 'put -C last'
}

import type { CommandRule } from '@ws/shell-tools'
import { cpOptions } from '../tools/cp.ts'
import { refuseMoment } from './other-rules.ts'

export const fileRules: Readonly<Record<string, CommandRule | string>> = {
  cp: {
    ...cpOptions,
    refuse: ({ operands }) => (operands.length < 2 ? 'give a source and a destination' : undefined),
  },
  du: 'the file API does not know the space that files take; use `find . -type f -printf "%s\\n"`',
  file: 'kinds of content are not told apart here; use `head -c` and `od`',
  gunzip: { flags: 'ckf' },
  gzip: { flags: 'cdkf' },
  mkdir: { flags: 'p', long: ['parents'] },
  rmdir: { flags: 'p' },
  split: { valued: 'lba' },
  tar: { raw: true, refuse: ({ operands }) => refuseTar(operands) },
  tee: { flags: 'a' },
  touch: {
    flags: 'cm',
    valued: 'd',
    long: ['date=', 'no-create'],
    refuse: ({ options }) => refuseTouch(options.findLast(({ name }) => name === '-d' || name === '--date')?.value),
  },
  tree: 'it was not compared with the real command; use `find`',
  zcat: {},
}

/** Checks `tar`. The archives contain the same members as GNU's, but not the same bytes. */
function refuseTar(given: readonly string[]): string | undefined {
  const [first = ''] = given
  const mode = first.replace(/^-/, '')
  if (first.startsWith('--') || !/^[ctxzOmpv]+f$/.test(mode) || (mode.match(/[ctx]/g) ?? []).length !== 1)
    return `\`${first}\`: give one word such as cf, czf, tf, xf or xOf, and the archive behind it`
  if (mode.includes('v') && (/[tO]/.test(mode) || given[1] === '-')) return '`v` in this form is not known here'
  const operands = given.slice(2)
  const unknown = operands.find((operand, index) => {
    return (
      operand.startsWith('-') && operand !== '-C' && !/^--exclude=[^/]+$/.test(operand) && operands[index - 1] !== '-C'
    )
  })
  if (unknown !== undefined) return `\`${unknown}\` is not known here`
  return operands.filter((operand) => operand === '-C').length > 1 ? 'give -C once' : undefined
}

function refuseTouch(time: string | undefined): string | undefined {
  if (time === undefined) return undefined
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z| UTC)$/.test(time))
    return `-d '${time}': give a time in UTC, such as '2026-01-31T12:00:00Z'`
  return refuseMoment(time)
}

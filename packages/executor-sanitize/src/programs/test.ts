import { type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'

const followed = new Set([
  '-e',
  '-f',
  '-d',
  '-r',
  '-w',
  '-x',
  '-s',
  '-p',
  '-S',
  '-b',
  '-c',
  '-g',
  '-u',
  '-k',
  '-O',
  '-G',
  '-N',
  '-a',
])
const links = new Set(['-L', '-h'])
const comparisons = new Set(['-nt', '-ot', '-ef'])
const texts = new Set(['=', '==', '!=', '<', '>', '-eq', '-ne', '-lt', '-le', '-gt', '-ge'])

/** Words that are operators themselves, or end the command. */
const follows = /^(?:[\])(]|-[a-z]+|[=!<>]=?)$/

export function isFileTest(operator: string): boolean {
  return followed.has(operator)
}

export function isLinkTest(operator: string): boolean {
  return links.has(operator)
}

export function isFileComparison(operator: string): boolean {
  return comparisons.has(operator)
}

/** `test` and `[`: operands of file tests are paths, compared operands are text. */
export function test(call: Invocation): Outcome {
  const { args } = call
  for (let index = 0; index < args.length; index++) {
    const argument = args[index]
    if (argument === undefined) break
    const before = index > 0 ? args[index - 1] : undefined
    // A word that is not known could be an operator, and this one a file.
    if (before?.value.text === undefined && before !== undefined && !follows.test(textOf(argument) ?? ''))
      call.refuse('unknown', before)
    const operator = textOf(before ?? argument) ?? ''
    const after = args[index + 1]
    const next = after === undefined ? '' : (textOf(after) ?? '')
    const compared = texts.has(next) || (index > 0 && texts.has(operator))
    const first = index > 0 && !compared
    if (operator === '-v' && index > 0) call.refuse('construct', argument)
    if (comparisons.has(next) || (index > 0 && comparisons.has(operator))) call.path(argument, 'read')
    else if (first && followed.has(operator)) call.path(argument, 'read')
    else if (first && links.has(operator)) call.path(argument, 'look')
    // Whether it is empty is the same for a path of this machine.
    else call.text(argument, { tainted: first && (operator === '-n' || operator === '-z') })
  }
  return call.done({ prints: false })
}

import { type Argument, type Invocation, knownText } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import type { Mode } from '../invocation/path-words.ts'

const files = new Set('-e -f -d -r -w -x -s -p -S -b -c -g -u -k -O -G -N -a'.split(' '))
const comparisons = new Set(['-nt', '-ot', '-ef'])
const texts = new Set('= == != < > -eq -ne -lt -le -gt -ge'.split(' '))
/** Words after an operand: operators, or the end of the command. */
const follows = /^(?:[\])(]|-[a-z]+|[=!<>]=?)$/

export function test(call: Invocation): Outcome {
  const { args } = call
  for (const [index, argument] of args.entries()) {
    const before = args[index - 1]
    // An unknown word could be an operator, and the next word its file.
    if (before !== undefined && before.value.text === undefined && !follows.test(knownText(argument) ?? ''))
      call.refuse('unknown', before)
    const operator = knownText(before) ?? ''
    const next = knownText(args[index + 1]) ?? ''
    // Refuses `-v`, which evaluates an index in a variable's name.
    if (/^-[vR]$/.test(operator)) call.refuse('construct', argument)
    const mode = modeOf(operator, next)
    if (mode !== undefined) call.path(argument, mode)
    // The host path is empty if and only if the workspace path is empty.
    else if (/^-[nz]$/.test(operator) && !texts.has(next)) emptyOrNot(call, argument)
    else call.text(argument)
  }
  return call.done({ prints: false })
}

function modeOf(operator: string, next: string): Mode | undefined {
  if (comparisons.has(next) || comparisons.has(operator)) return 'read'
  if (texts.has(next) || texts.has(operator)) return undefined
  return files.has(operator) ? 'read' : /^-[Lh]$/.test(operator) ? 'look' : undefined
}

function emptyOrNot(call: Invocation, argument: Argument): void {
  if (argument.value.glob) call.refuse('unknown', argument)
  call.shown(argument)
}

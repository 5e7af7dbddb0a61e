import { bytesOf } from '@ws/shell-tools'
import type { ExecResult } from 'just-bash'

import { literalText, type Word } from './nodes.ts'
import type { Command } from './interpreter.ts'

interface Redirected {
  readonly redirections?: readonly {
    readonly operator: string
    readonly fd?: number | null
    readonly target: Word
    readonly fdVariable?: string
  }[]
}

/** Bytes of both outputs, as just-bash counts them. */
interface Counted {
  readonly internalOutputAccounting?: { readonly stdout: number; readonly stderr: number }
}

export interface Outputs {
  /** Targets of output by descriptor number. Targets are compared by identity. */
  readonly places: ReadonlyMap<string, unknown>
  /** True if `>&2` sends standard output to standard error. */
  readonly asErrors?: boolean
  /** True inside a substitution or a pipe. */
  readonly isPiped?: boolean
  /** The number of a descriptor that leads out of the substitution or pipe. */
  readonly leadsOut?: string
  /** True after `exec 2>&1`: just-bash then delivers each result immediately. */
  readonly isMoved?: boolean
}

export const firstOutputs: Outputs = {
  places: new Map([
    ['1', 'output'],
    ['2', 'errors'],
  ]),
}

/** The outputs inside a substitution, and in a part of a pipeline before `|`. */
export const intoPipe = ({ places }: Outputs): Outputs => ({ places: new Map(places).set('1', {}), isPiped: true })

/** True if standard output and standard error have the same target, as after `2>&1`. */
export const areTogether = ({ places }: Outputs): boolean => places.get('1') === places.get('2')

/** The targets of a command's output after its redirections. @param outputs the targets before the redirections */
export function outputsOf(command: Command, outputs: Outputs): Outputs {
  const { redirections = [] } = command as Redirected
  if (redirections.length === 0) return outputs
  const places = new Map(outputs.places)
  let { asErrors = false, leadsOut } = outputs
  for (const one of redirections) {
    const { operator, fd, target, fdVariable } = one
    if (!operator.includes('>') || fdVariable) continue
    const name = literalText(target)
    const [, to = ''] = /^(?:\/dev\/fd\/)?(\d+)-?$/.exec(named.get(name) ?? name) ?? []
    const place = to === '' ? one : (places.get(to) ?? one)
    const from = String(fd ?? 1)
    if (outputs.isPiped && Number(to) > 2 && place === 'output') leadsOut = to
    if (from === '1') asErrors = place === places.get('2')
    places.set(from, place)
  }
  const isMoved =
    isBareExec(command) && (places.get('1') !== outputs.places.get('1') || places.get('2') !== outputs.places.get('2'))
  return { ...outputs, places, asErrors, ...(leadsOut && { leadsOut }), isMoved: outputs.isMoved === true || isMoved }
}

const named: ReadonlyMap<string, string> = new Map([
  ['/dev/stdout', '1'],
  ['/dev/stderr', '2'],
])

/** Joins a command's outputs if both have the same target. The shell's own messages come first. */
export function asOne(result: ExecResult, outputs: Outputs): ExecResult {
  const { stdout, stdoutKind, stderr } = result
  if (stderr === '' || outputs.isMoved || !areTogether(outputs)) return result
  const { internalOutputAccounting: counted } = result as Counted
  const both = (counted?.stdout ?? 0) + (counted?.stderr ?? 0)
  return {
    ...result,
    stdout: (stdoutKind === 'bytes' ? bytesOf(stderr) : stderr) + stdout,
    stderr: '',
    ...(counted && { internalOutputAccounting: { stdout: both, stderr: 0 } }),
  }
}

/** True for `exec` without a program: its redirections stay in effect. */
export function isBareExec(command: Command): boolean {
  return (
    command.type === 'SimpleCommand' && command.args.length === 0 && literalText(command.name as Word | null) === 'exec'
  )
}

/** True for `$(< file)`, which reads a file without a command. */
export function readsFile(command: Command): boolean {
  return (
    JSON.stringify(command).includes('"type":"CommandSubstitution"') &&
    JSON.stringify(command).includes('"operator":"<"')
  )
}

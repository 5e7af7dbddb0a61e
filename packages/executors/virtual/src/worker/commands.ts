import { bytesOf, outputOf, refusalOf, type ToolResult } from '@ws/shell-tools'
import { decodeText, hasForeignBytes } from '@ws/shell-tools/files'
import { type CustomCommand, defineCommand, type ExecResult, getCommandNames } from '#just-bash'

import type { Call, InterpreterContext, ScriptTool } from './call.ts'
import { commandRules } from './guard/rules.ts'
import { areTogether } from './state/to-errors.ts'
import { refusedCommand } from './syntax/checked.ts'
import { takeMark } from './syntax/inherited.ts'
import type { Session } from './state/session.ts'
import type { BashFileSystem } from '../files/system.ts'
import { target, wordRefusals } from './wording.ts'
import { tools } from './tools/index.ts'
import { runProgram } from './tools/run-program.ts'

const foreign = /[^\0-\x7f]/u
/** Limit of bytes for converting output that is not UTF-8 to text: just-bash's limit counts three for each byte. */
const mostForeign = 1024 * 1024

/** Converts output to text. just-bash joins output and errors and measures both as text, so it would garble bytes or fail. */
function asText(result: ToolResult): ToolResult {
  const { stdoutKind, stdoutEncoding, ...rest } = result
  const { stdout, stderr } = rest
  const isBytes = stdoutKind === 'bytes' || (stdoutKind === undefined && stdoutEncoding === 'binary')
  if (!isBytes || !(foreign.test(stdout) || foreign.test(stderr))) return result
  const text = decodeText(Buffer.from(stdout, 'latin1'))
  if (stderr === '' && stdout.length > mostForeign && hasForeignBytes(text)) return result
  return { ...rest, stdout: text, stdoutKind: 'text' }
}

function asOne(result: ToolResult): ToolResult {
  const { stderr, together = () => outputOf(result) + bytesOf(stderr) } = result
  return stderr === '' ? result : { ...result, stdout: together(), stdoutKind: 'bytes', stderr: '' }
}

/** True if {@link asText} leaves the output as bytes. Joining such output with standard error would garble the bytes. */
function isLeftAsBytes({ stdout, stdoutKind }: ToolResult): boolean {
  return stdoutKind === 'bytes' && stdout.length > mostForeign && foreign.test(stdout)
}

/** All commands for scripts, ours and just-bash's. Forms not compared with real commands end the script. @param further more commands */
export function guardedCommands(session: Session, further: Readonly<Record<string, ScriptTool>> = {}): CustomCommand[] {
  const all = { ...tools, ...further }
  const names = new Set([...getCommandNames(), ...Object.keys(all)])
  return [...names].map((name) => guarded(name, session, all[name])).concat(refusedCommand(session))
}

/** Commands that never read standard input. */
const deaf = new Set(
  'alias basename chmod cp date dirname echo env expr false hostname ln mkdir printenv printf pwd rmdir seq split time timeout touch true unalias which whoami bash sh'.split(
    ' ',
  ),
)

/** True if a command of just-bash may read standard input with these arguments. */
function mayReadInput(name: string, given: readonly string[]): boolean {
  return !deaf.has(name) && (name === 'tee' || given.includes('-') || given.every((word) => word.startsWith('-')))
}

/** Commands that start scripts, in which the interpreter runs the guarded commands again. */
const runsScripts = new Set(['bash', 'sh', 'env', 'python', 'python3', 'time', 'timeout'])

function guarded(name: string, session: Session, tool: ScriptTool | undefined): CustomCommand {
  return define(name, (given, context) => run({ name, tool }, given, context, session))
}

/**
 * This package's commands for a foreign interpreter, except those that start scripts. Forms not compared with real commands end with 126.
 * just-bash's `tee` and `split` get better messages about refused files. @param open a session for one call
 */
export function separateCommands(open: () => Session, { failures }: Pick<BashFileSystem, 'failures'>): CustomCommand[] {
  return [...Object.keys(tools), 'tee', 'split']
    .filter((name) => !runsScripts.has(name) && name !== 'sleep')
    .map((name) =>
      define(name, async (given, context) => {
        const session = open()
        const last = failures.at(-1)
        try {
          const result = await run({ name, tool: tools[name] }, given, context, session)
          const own = last === undefined ? failures : failures.slice(failures.lastIndexOf(last) + 1)
          const refused = own.filter(({ rule }) => rule !== undefined && result.exitCode !== 0)
          const rules = new Set(refused.map(({ path, rule }) => `${name}: the rule ${rule} refuses ${target(path)}\n`))
          return { ...result, stderr: wordRefusals(result.stderr, own) + [...rules].join('') }
        } catch (error) {
          const { refusal } = session
          if (refusal === undefined) throw error
          return { stdout: '', stderr: refusal, exitCode: 126 }
        }
      }),
    )
}

function define(name: string, execute: Parameters<typeof defineCommand>[1]): CustomCommand {
  // just-bash blocks WebAssembly in other commands
  return defineCommand(name, execute, { trusted: name === 'jq' })
}

async function run(
  { name, tool }: { readonly name: string; readonly tool: ScriptTool | undefined },
  marked: string[],
  context: InterpreterContext,
  session: Session,
): Promise<ExecResult> {
  session.check()
  const rule = commandRules[name]
  const { words: given, inherits } = takeMark(marked)
  const refusal = rule === undefined ? notCompared(name) : refusalOf(name, rule, given)
  if (refusal !== undefined) session.refuse(refusal.subject, refusal.reason)
  session.begin([name, ...given].join(' '))
  const call = callOf(name, given, context, session, inherits)
  if (tool === undefined && mayReadInput(name, given)) session.noteInput(call)
  const result = tool === undefined ? await runOriginal(name, given, context, session) : await tool(call)
  session.check(runsScripts.has(name) ? outputOf(result) : '')
  const output = asText(areTogether(session.outputs) ? asOne(result) : result)
  if (session.outputs.asErrors && isLeftAsBytes(output))
    session.refuse(`${name} >&2`, 'standard error takes 1 MiB of binary output at most; write it to a file')
  return output
}

function callOf(
  name: string,
  given: readonly string[],
  context: InterpreterContext,
  session: Session,
  inherits: Call['inherits'],
): Call {
  const { files } = session
  if (files === undefined) throw new Error('the script has no files')
  const call: Call = {
    name,
    given,
    // the cast removes just-bash's type brand from standard input, which has one character for each byte
    context: context as unknown as Call['context'],
    host: session,
    listing: files,
    inherits,
    run: (words, { cwd = context.cwd, stdin = '' } = {}) =>
      runProgram({ ...call, context: { ...call.context, cwd } }, words, stdin),
  }
  return call
}

function notCompared(subject: string): { readonly subject: string; readonly reason: string } {
  return { subject, reason: 'it was not compared with the real command' }
}

/** Messages in which just-bash reports options that it lacks, or unsupported parts. */
const unknown = /invalid option|unrecognized option|not implemented|not supported|unknown (?:option|command|predicate)/i

async function runOriginal(
  name: string,
  given: readonly string[],
  { origCommand }: InterpreterContext,
  session: Session,
): Promise<ExecResult> {
  if (origCommand === undefined) return { stdout: '', stderr: `bash: ${name}: command not found\n`, exitCode: 127 }
  const rule = commandRules[name]
  const { preset = [], ignored = '' } = typeof rule === 'object' ? rule : {}
  const result = await origCommand([...preset, ...withoutFlags(given, ignored)])
  const [complaint] = result.stderr.split('\n')
  if (result.exitCode !== 0 && complaint !== undefined && unknown.test(complaint)) session.refuse(name, complaint)
  return result
}

function withoutFlags(given: readonly string[], ignored: string): string[] {
  if (ignored === '') return [...given]
  const end = given.indexOf('--')
  return given.flatMap((word, index) => {
    if (!/^-[A-Za-z]+$/.test(word) || (end !== -1 && index > end)) return [word]
    const kept = [...word].filter((letter) => !ignored.includes(letter)).join('')
    return kept === '-' ? [] : [kept]
  })
}

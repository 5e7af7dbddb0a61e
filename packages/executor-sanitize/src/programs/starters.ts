import { findWrapped, wrappers } from '@ws/command-parser'

import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { refuse } from '../refusal.ts'
import { runFile } from './trusted.ts'

/** Wrappers that only change how a program runs, not as whom or where. */
const harmless = new Set(['nice', 'nohup', 'timeout', 'time', 'stdbuf', 'command', 'builtin', 'env', 'ionice'])

export function isStarter(name: string): boolean {
  return harmless.has(name) || name === 'xargs' || isJudgedShell(name)
}

export function isJudgedShell(name: string): boolean {
  return name === 'sh' || name === 'bash' || name === 'dash'
}

export function runStarter(call: Invocation): Outcome {
  if (isJudgedShell(call.name)) return shell(call)
  if (call.name === 'xargs') return xargs(call)
  return wrapped(call)
}

function wrapped(call: Invocation): Outcome {
  const { name, args } = call
  const wrapper = wrappers[name]
  if (wrapper === undefined) return refuse('construct', name)
  const words = args.map(textOf)
  if (name === 'command' && words[0] === '-v') {
    for (const argument of args) call.text(argument)
    return call.done({ prints: true })
  }
  const found = findWrapped(wrapper, words)
  // `env` alone lists the variables of this machine.
  if (found === 'unknown' || (found === 'none' && name === 'env')) return refuse('option', call.written)
  const before = found === 'none' ? args : args.slice(0, found.at)
  judgeWrapperOptions(call, before)
  if (found === 'none') return call.done()
  return call.start(args.slice(found.at), call.context)
}

function judgeWrapperOptions(call: Invocation, before: readonly Argument[]): void {
  for (const [index, argument] of before.entries()) {
    const text = textOf(argument) ?? ''
    if (call.name === 'env') judgeRemoval(call, argument, text, before[index + 1])
    // `env -C` and `time -o` name files.
    if (/^(?:-C|--chdir|-o|--output$|--output=)/.test(text) && call.name !== 'stdbuf' && call.name !== 'nice')
      call.refuse('option', argument)
    const assignment = /^([A-Za-z_]\w*)=/.exec(text)?.[1]
    if (call.name === 'env' && assignment !== undefined) refuseDangerous(assignment, argument.word.text)
    if (call.name === 'env' && argument.value.text === undefined) call.refuse('unknown', argument)
    call.text(argument)
  }
}

/** A shell without `HOME` takes `$HOME/x` for the path `/x` of this machine: variables that lines use stay. */
function judgeRemoval(call: Invocation, argument: Argument, text: string, next: Argument | undefined): void {
  if (text === '-' || /^-(?:[^-u]*i|-i)/.test(text)) call.refuse('option', argument)
  const [, short, long] = /^(?:-[^-u]*u(.*)|--u[a-z]*=?(.*))$/.exec(text) ?? []
  const removed = short ?? long
  if (removed === undefined) return
  const name = removed === '' ? (next === undefined ? undefined : textOf(next)) : removed
  if (name === undefined) call.refuse('unknown', argument)
  else refuseDangerous(name, `env -u ${name}`)
}

const dangerous =
  /^(?:PATH|LD_.*|BASH_ENV|ENV|IFS|CDPATH|GLOBIGNORE|SHELLOPTS|BASHOPTS|BASH_FUNC_.*|BASH_XTRACEFD|PS4|PROMPT_COMMAND|HOME|PWD|OLDPWD|TMPDIR|SHELL|PYTHON.*|PERL.*|NODE_.*|NPM_.*|RUBY.*|GIT_.*|PAGER|EDITOR|VISUAL|LESS.*|AWK.*|GREP_.*|TAR_OPTIONS|GZIP|POSIXLY_CORRECT|FIGNORE|HISTFILE|INPUTRC|TERMINFO.*|LOCPATH|NLSPATH|GCONV_PATH|MALLOC_.*|XDG_.*|EXECIGNORE|DIFF_.*|LS_.*|ZIPOPT|MAGIC|BC_ENV_ARGS|BC_.*|UNZIP|XZ_.*)$/

/** Variables that change what later commands are, or where programs look for files. */
export function refuseDangerous(name: string, what: string): void {
  if (dangerous.test(name)) refuse('variable', what)
}

const xargsOptions = new Set(['-0', '--null', '-r', '--no-run-if-empty', '-x', '--exit'])
const xargsValues = new Set(['-n', '--max-args', '-L', '--max-lines', '-P', '--max-procs', '-s', '--max-chars'])

/** `xargs`: the words that it reads are not known, so only programs that take them as text can have them. */
function xargs(call: Invocation): Outcome {
  const { args, context } = call
  let replace: string | undefined
  let index = 0
  for (; index < args.length; index++) {
    const argument = args[index]
    const text = argument === undefined ? undefined : textOf(argument)
    if (argument === undefined || text === undefined || !text.startsWith('-')) break
    if (xargsOptions.has(text)) continue
    if (xargsValues.has(text)) index++
    else if (text === '-I') replace = textOf(args[++index] ?? argument)
    else if (/^-I./.test(text)) replace = text.slice(2)
    else if (!/^-(?:0|r0|0r)?(?:[nPLs]\d+)?$/.test(text) && !/^--max-(?:args|procs|lines|chars)=\d+$/.test(text))
      call.refuse('option', argument)
  }
  const command = args.slice(index)
  const [program] = command
  if (program === undefined) return call.done({ prints: context.tainted })
  const known = { text: undefined, host: context.tainted }
  // Without -I the names come last: as if they were written there.
  const added = replace === undefined ? [call.placeholder(known)] : []
  const placeholder = replace === undefined ? context.placeholder : { word: replace, known }
  return call.start([...command, ...added], { ...context, tainted: false, placeholder })
}

/** `sh -c`: the line is judged, mapped and quoted again. A script of the workspace is code of the workspace. */
function shell(call: Invocation): Outcome {
  const { args } = call
  let asked = false
  for (let index = 0; index < args.length; index++) {
    const argument = args[index]
    if (argument === undefined) break
    const text = textOf(argument)
    if (text === undefined) return refuse('unknown', argument.word.text)
    if (text === '--') continue
    if (/^-[eufnc]+$/.test(text) || text === '--norc' || text === '--noprofile') {
      asked ||= /^-[a-z]*c/.test(text)
      continue
    }
    if (/^-[euc]*o$/.test(text)) {
      asked ||= text.includes('c')
      index++
      continue
    }
    if (text.startsWith('-')) return call.refuse('option', argument)
    if (!asked) return runFile(call.from(index + 1), argument)
    // Its own words (`$1`) are variables of the line.
    for (const value of args.slice(index + 1)) call.kept(value)
    return call.line(argument)
  }
  return refuse('code', call.written)
}

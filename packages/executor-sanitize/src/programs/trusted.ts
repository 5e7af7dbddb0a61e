import { type Argument, type Invocation, textOf } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { startsOf } from '../invocation/path-words.ts'
import { lookAt } from '../paths/links.ts'
import { namesOf, type ResolvedPath } from '../paths/path-view.ts'
import { refuse } from '../refusal.ts'

/** Options whose value is code or a message: always text. */
const texts: Readonly<Record<string, readonly string[]>> = {
  python: ['-c', '-m', '-W', '-X'],
  node: ['-e', '-p', '-pe', '-c', '--eval', '--print', '--input-type', '-C', '--conditions'],
  perl: ['-e', '-E', '-ne', '-pe', '-lne', '-lpe', '-nle', '-ple', '-0ne', '-0pe', '-i', '-M'],
  ruby: ['-e', '-ne', '-pe'],
  php: ['-r'],
  lua: ['-e'],
  git: ['-m', '--message', '-c', '-S', '-G', '--grep', '--author', '--format', '--pretty', '-b', '-B', '--date', '-n'],
  npm: [],
  jq: ['--arg', '--argjson', '--indent'],
  curl: ['-H', '--header', '-d', '--data', '--data-raw', '-X', '-A', '-e', '-u', '-w'],
}

/**
 * Runs a program that the caller trusts. Arguments that are absolute paths of the workspace are mapped, also after `--name=`.
 * Other arguments stay as they are. Code after `-c` or `-e` is text.
 */
export function runTrusted(call: Invocation): Outcome {
  const family = call.name.replace(/[\d.]+$/, '')
  const codeOptions = texts[family === 'nodejs' ? 'node' : family] ?? []
  let filter = call.name === 'jq'
  for (let index = 0; index < call.args.length; index++) {
    const argument = call.args[index]
    if (argument === undefined) break
    const text = textOf(argument)
    if (text !== undefined && codeOptions.includes(text)) {
      const next = call.args[++index]
      if (next !== undefined) call.text(next, { tainted: true })
    } else if (text !== undefined && filter && !text.startsWith('-')) {
      filter = false
      call.text(argument)
    } else mapArgument(call, argument)
  }
  // The files it makes have not been looked at; the caller trusts it.
  return call.done({ prints: call.hosts || call.tainted || readsPaths(call) })
}

function readsPaths({ context }: Invocation): boolean {
  return context.tainted
}

/** Where a path can begin inside of an argument: `-C/x`, `--file=/x`, `CFLAGS=-I/x`, `host:/x`. */
const innerPath = /(?<=[=:,@(](?:-[A-Za-z])?|^-[A-Za-z]{1,3})\/(?!\/)[^\s:,)]*/g

function mapArgument(call: Invocation, argument: Argument): void {
  const { value } = argument
  const text = textOf(argument)
  const inner = text?.startsWith('/') === false ? [...text.matchAll(innerPath)] : []
  const [first, ...others] = inner.filter(([path]) => looksLikeOurs(call, path))
  if (first !== undefined) {
    const name = /^-{0,2}[\w-]+=(?=\/)/.exec(text ?? '')?.[0]
    if (others.length > 0 || name?.length !== first.index || name.length + first[0].length !== text?.length)
      return refuse('option', argument.word.text, 'write the option and its path as two words')
    call.attached(argument, name.length, 'write')
    return
  }
  if (value.host) {
    call.path(argument, 'write')
    return
  }
  if (value.text === undefined) {
    // Its text is not known; a trusted program may have it as it is.
    if (value.splits || value.glob) call.text(argument, { tainted: true })
    if (value.tainted) call.hosts = true
    return
  }
  if (value.text.startsWith('/') && looksLikeOurs(call, value.text)) call.path(argument, 'write')
  else call.text(argument, { tainted: true })
}

/** True for a path whose first name is there, or which lies below a mount of its own. */
function looksLikeOurs(call: Invocation, text: string): boolean {
  const place = call.context.settings.view.resolve(text)
  if (place.kind !== 'mount') return false
  if (place.mount.at !== '/') return true
  const [first] = namesOf(place.inside)
  return (
    first === undefined || namesOf(place.inside).length === 1 || lookAt(`${place.mount.host}/${first}`) !== undefined
  )
}

/** A file of the workspace: it runs only where it is named, or everything is trusted. */
export function runFile(call: Invocation, program: Argument): Outcome {
  const { trust, view } = call.context.settings
  const text = textOf(program) ?? ''
  const places = startsOf(text, call)
  const known = places.length > 0 && places.every((path) => trust === 'all' || trust.has(virtualOf(view.resolve(path))))
  if (!known && trust !== 'all') return refuse('script', program.word.text)
  call.path(program, 'read')
  return runTrusted(call)
}

function virtualOf(place: ResolvedPath): string {
  return place.kind === 'mount' ? place.virtual : ''
}

/** Refuses an unknown program: its input, its output and its files are not known. */
export function runUnknown(call: Invocation): Outcome {
  const { name, args, context } = call
  if (context.settings.isInstalled(name)) return refuse('program', call.written)
  // The shell says that there is no such program, for any arguments.
  for (const argument of args) call.text(argument, { tainted: true })
  return call.done({ prints: false })
}

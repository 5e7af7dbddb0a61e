import { type Argument, type Invocation, knownText } from '../invocation/invocation.ts'
import type { Outcome } from '../invocation/analysis-context.ts'
import { startsOf } from '../invocation/path-words.ts'
import { isInstalled } from '../installed.ts'
import { lookAt } from '../paths/links.ts'
import { refuse } from '../refusal.ts'
import { trustedBuiltins } from './builtins.ts'

/** Runs a trusted program. Maps absolute workspace paths in its arguments, also after `--name=`. Other arguments do not change. */
export function runTrusted(call: Invocation): Outcome {
  for (const argument of call.args) mapArgument(call, argument)
  // Files that the program writes are not checked, since the caller trusts the program.
  return call.done({ prints: call.hosts || call.tainted || call.context.tainted })
}

/** Finds paths inside an argument: `-C/x`, `--file=/x`, `CFLAGS=-I/x`, `host:/x`. */
const innerPath = /(?<=[=:,@(](?:-[A-Za-z])?|^-[A-Za-z]{1,3})\/(?!\/)[^\s:,)]*/g

function mapArgument(call: Invocation, argument: Argument): void {
  const text = knownText(argument)
  const inner = text?.startsWith('/') === false ? [...text.matchAll(innerPath)] : []
  const [first, ...others] = inner.filter(([path]) => isOurs(call, path))
  if (first !== undefined) {
    const name = /^-{0,2}[\w-]+=(?=\/)/.exec(text ?? '')?.[0]
    if (others.length > 0 || name?.length !== first.index || name.length + first[0].length !== text?.length)
      return call.refuse('option', argument, 'write the option and its path as two words')
    return call.attached(argument, name.length, 'write')
  }
  const { value } = argument
  if (value.host || (value.text?.startsWith('/') === true && isOurs(call, value.text))) call.path(argument, 'write')
  else if (value.text !== undefined || value.splits || value.glob) call.shown(argument)
  else call.hosts ||= value.tainted
}

/** Returns true for a pattern, an existing path, or a new name in an existing directory. Other text can also begin with a slash. */
function isOurs(call: Invocation, text: string): boolean {
  const place = call.context.settings.view.resolve(text)
  if (place.kind !== 'mount') return false
  const host = place.mount.host + place.inside
  if (/[*?[]/.test(text)) return /^[\w./*?[\]-]+$/.test(text)
  return (
    lookAt(host) !== undefined ||
    (/^[^\s(){}'"\\|;]*[^/]$/.test(text) && lookAt(host.replace(/[^/]*$/, '')) !== undefined)
  )
}

export function runFile(call: Invocation, program: Argument): Outcome {
  const { trust, view } = call.context.settings
  const isNamed = (path: string) => {
    const place = view.resolve(path)
    return trust !== 'all' && place.kind === 'mount' && trust.has(place.virtual)
  }
  const places = startsOf(knownText(program) ?? '', call)
  if (trust !== 'all' && !(places.length > 0 && places.every(isNamed))) return call.refuse('script', program)
  call.path(program, 'read')
  return runTrusted(call)
}

/** Refuses an installed program that this package does not know: it could open any file. */
export function runUnknown(call: Invocation): Outcome {
  const { name } = call
  if (isInstalled(name) || trustedBuiltins.has(name))
    return refuse('program', call.written, `name \`${name}\` in \`trustPrograms\``, name)
  // The program is missing: the shell only reports that, for any arguments.
  for (const argument of call.args) call.shown(argument)
  return call.done({ prints: false })
}

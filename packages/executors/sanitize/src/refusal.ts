import { quotePath } from '@ws/core'

/** Why a command is refused. Each kind has one meaning. */
export type RefusalKind =
  | 'syntax'
  | 'unknown'
  | 'climbs'
  | 'outside'
  | 'system'
  | 'link'
  | 'program'
  | 'script'
  | 'code'
  | 'option'
  | 'shown'
  | 'stored'
  | 'mount'
  | 'construct'
  | 'held'
  | 'unquoted'
  | 'variable'

/** The command may leave the workspace, or its effect would differ from that in a view. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly kind: RefusalKind
  readonly remedy: string

  constructor(kind: RefusalKind, reason: string, remedy: string) {
    super(reason)
    this.kind = kind
    this.remedy = remedy
  }
}

/** The reason of each kind, and a remedy in this executor if there is one. */
const texts: Readonly<Record<RefusalKind, readonly [reason: string, remedy?: string]>> = {
  syntax: ['cannot be read with certainty', 'write it in a simpler way'],
  unknown: ['names a file that is not known before the shell runs', 'write the path out'],
  climbs: [
    'may climb out of the workspace',
    'use an absolute path of the workspace, or go there with `cd DIRECTORY &&`',
  ],
  outside: ['lies outside of every mount', 'use a path of the workspace'],
  system: ['is not a part of the system that commands may use', 'use a path of the workspace'],
  link: ['is a link, or runs through one, that leaves its mount', 'name what it leads to'],
  program: ['is not known here, so it cannot be judged', 'name it in `trustPrograms`'],
  script: ['runs code of the workspace', 'name it in `trustPrograms`'],
  code: ['runs code that cannot be judged'],
  option: ['is an option that cannot be judged', 'leave it out'],
  shown: ['would see paths of this machine in what it reads', 'go there with `cd` and use relative paths'],
  stored: ['would store paths of this machine', 'go there with `cd` and use relative paths'],
  mount: [
    'holds, or lies in, another mount, which is elsewhere on this machine',
    'name the mount by its absolute path',
  ],
  construct: ['cannot be judged', 'write it in a simpler way'],
  unquoted: [
    'is split by the shell, and its patterns would find paths of this machine',
    'put it between double quotes',
  ],
  held: ['puts paths of this machine into a variable, whose use is not followed', 'write each path where it is used'],
  variable: ['changes how every later command is read', 'leave it out'],
}
/** Kinds that other executors also refuse. */
const nowhere: ReadonlySet<RefusalKind> = new Set(['syntax', 'outside', 'system'])

/**
 * @param what the refused part of the command, as written @param hint a better remedy than the usual one
 * @param program a program that the virtual executor may lack
 */
export function refuse(kind: RefusalKind, what: string, hint?: string, program?: string): never {
  const [reason, usual] = texts[kind]
  const condition = program === undefined ? '' : `, if it has \`${program}\``
  const elsewhere = `take another executor: bubblewrap or proot, which have a view, or virtual${condition}`
  const remedies = [hint ?? usual, nowhere.has(kind) ? undefined : elsewhere]
  throw new Refusal(kind, `${quotePath(what)} ${reason}`, remedies.filter((one) => one !== undefined).join(', or '))
}

import { quotePath } from '@ws/core'

/** Why a command is not run; each kind has one meaning. */
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
  | 'template'
  | 'shown'
  | 'stored'
  | 'mount'
  | 'construct'
  | 'variable'

/** A command that cannot be proven to stay inside, or to do here what it does in a view. */
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

const texts: Readonly<Record<RefusalKind, readonly [string, string]>> = {
  syntax: ['cannot be read with certainty', 'write it in a simpler way'],
  unknown: ['names a file that is not known before the shell runs', 'write the path out'],
  climbs: ['may climb out of the workspace', 'use an absolute path of the workspace'],
  outside: ['lies outside of every mount', 'use a path of the workspace'],
  system: ['is not a part of the system that commands may use', 'use a path of the workspace'],
  link: ['is a link, or runs through one, that leaves its mount', 'name what it leads to'],
  program: [
    'is not known here, so it cannot be judged',
    'name it in `trustPrograms`, or use an executor with a view (bubblewrap, proot)',
  ],
  script: [
    'runs code of the workspace',
    'name it in `trustPrograms`, or use an executor with a view (bubblewrap, proot)',
  ],
  code: ['runs code that cannot be judged', 'use an executor with a view (bubblewrap, proot)'],
  option: ['is an option that cannot be judged', 'leave it out, or use an executor with a view (bubblewrap, proot)'],
  template: ['has no X in its name, and so could show a part of a path of this machine', 'end the name with XXXXXX'],
  shown: ['would see paths of this machine in what it reads', 'go there with `cd` and use relative paths'],
  stored: ['would store paths of this machine', 'go there with `cd` and use relative paths'],
  mount: [
    'holds, or lies in, another mount, which is elsewhere on this machine',
    'name the mount by its absolute path',
  ],
  construct: ['cannot be judged', 'write it in a simpler way, or use an executor with a view (bubblewrap, proot)'],
  variable: ['changes how every later command is read', 'leave it out'],
}

/** @param what the part of the command, as it was written */
export function refuse(kind: RefusalKind, what: string, remedy?: string): never {
  const [reason, usual] = texts[kind]
  throw new Refusal(kind, `${quotePath(what)} ${reason}`, remedy ?? usual)
}

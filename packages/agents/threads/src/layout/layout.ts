import { WorkspaceError } from '@ws/core'
import { z } from 'zod'

const template = (...placeholders: readonly string[]) =>
  z
    .string()
    .max(512)
    .refine((path) => path.split('/').every((name) => isName(name, placeholders)), {
      message: `must be a path of plain names${placeholders.length === 0 ? '' : ` with ${placeholders.map((name) => `\`{${name}}\``).join(' or ')} as a whole name`}, such as \`threads/{thread_id}\``,
    })
    .refine(
      (path) => placeholders.every((name) => path.split('/').filter((part) => part === `{${name}}`).length === 1),
      {
        message: `must hold ${placeholders.map((name) => `\`{${name}}\``).join(' and ')} once`,
      },
    )

const plain = /^(?!\.\.?$)[A-Za-z0-9._-]{1,128}$/

function isName(name: string, placeholders: readonly string[]): boolean {
  return plain.test(name) || placeholders.some((placeholder) => name === `{${placeholder}}`)
}

/** Where a store keeps each part of a thread, relative to its root [RP1]. The defaults are those of the bucket `solven-{env}`. */
export const layoutSchema = z
  .strictObject({
    /** The bucket's name. Default `solven-{env}`. */
    bucket: z.string().default('solven-{env}'),
    /** Skills for all users. Default `skills/system`. */
    systemSkills: template().default('skills/system'),
    /** Skills of one user. Default `skills/{user_id}`. */
    userSkills: template('user_id').default('skills/{user_id}'),
    /** The tree of a thread. Default `threads/{thread_id}`. */
    threads: template('thread_id').default('threads/{thread_id}'),
    /** The tree of a ticket, which is another thread by default: `threads/{ticket_id}`. */
    tickets: template('ticket_id').default('threads/{ticket_id}'),
    /** The directory of leases. Default `.ws`. */
    control: template().default('.ws'),
  })
  .superRefine((layout, context) => {
    for (const [left, right] of overlaps(layout)) {
      context.addIssue({ code: 'custom', path: [right], message: `overlaps \`${left}\`: one would lie in the other` })
    }
  })

export type LayoutOptions = z.input<typeof layoutSchema>
export type Layout = z.output<typeof layoutSchema>

/** @throws WorkspaceError `EINVAL` that names the part of the layout. */
export function checkLayout(options: unknown = {}): Layout {
  const { data, error } = layoutSchema.safeParse(options)
  if (data !== undefined) return data
  const [issue] = error.issues
  const name = issue?.code === 'unrecognized_keys' ? issue.keys[0] : issue?.path.join('.')
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'createThreads',
    reason: `\`layout.${name ?? ''}\` ${issue?.code === 'unrecognized_keys' ? 'is not an option' : issue?.message}`,
    remedy: 'see `layoutSchema` for the parts of a layout and their defaults',
  })
}

/** The name of the bucket in an environment: `bucketName(layout, 'testing')` is `solven-testing`. */
export function bucketName({ bucket }: Layout, env: string): string {
  return bucket.replaceAll('{env}', () => env)
}

export function expandTemplate(path: string, ids: Readonly<Record<string, string>>): string {
  return path
    .split('/')
    .map((name) => (name.startsWith('{') ? (ids[name.slice(1, -1)] ?? name) : name))
    .join('/')
}

type LayoutArea = 'systemSkills' | 'userSkills' | 'threads' | 'tickets' | 'control'

function overlaps(layout: Readonly<Record<LayoutArea, string>>): [LayoutArea, LayoutArea][] {
  const parts: readonly LayoutArea[] = ['systemSkills', 'userSkills', 'threads', 'tickets', 'control']
  const found: [LayoutArea, LayoutArea][] = []
  for (const [index, left] of parts.entries()) {
    for (const right of parts.slice(index + 1)) {
      const same = left === 'threads' && right === 'tickets' && sameShape(layout.threads, layout.tickets)
      if (!same && mayMeet(layout[left], layout[right])) found.push([left, right])
    }
  }
  return found
}

function sameShape(threads: string, tickets: string): boolean {
  return threads.replace('{thread_id}', '{}') === tickets.replace('{ticket_id}', '{}')
}

function mayMeet(left: string, right: string): boolean {
  const [first, second] = [left.split('/'), right.split('/')]
  return first.slice(0, second.length).every((name, index) => namesMayBeEqual(name, second[index] ?? ''))
}

function namesMayBeEqual(left: string, right: string): boolean {
  const [wild, other] = left.startsWith('{') ? [true, right] : [right.startsWith('{'), left]
  if (!wild) return left.toLowerCase() === right.toLowerCase()
  // an id is never `system`, and never begins with a dot
  return other.startsWith('{') || !/^(?:system|\..*)$/i.test(other)
}

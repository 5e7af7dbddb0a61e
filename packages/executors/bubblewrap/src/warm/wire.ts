export type SupervisorLine =
  | { readonly what: 'hello'; readonly filterBytes: number }
  | {
      readonly what: 'spare'
      readonly id: number
      /** The first process, with its number in the supervisor's namespace. */
      readonly pid: number
      /** Numbers of the supervisor's descriptors. */
      readonly fds: SpareDescriptors
    }
  /** The first process of a spare and its whole namespace have ended. */
  | { readonly what: 'end'; readonly id: number; readonly status: number }
  /** The first process has ended, but listings may be wrong: a calling process was unreadable, or the tracer was killed. */
  | { readonly what: 'unlisted'; readonly id: number; readonly isUnreadable: boolean }
  /** The supervisor could not make a spare. */
  | { readonly what: 'short'; readonly errno: number }

export interface SpareDescriptors {
  readonly pidfd: number
  readonly order: number
  readonly stdin: number
  readonly stdout: number
  readonly stderr: number
  readonly report: number
}

export const longestLine = 200

/** @returns `undefined` for a line that the supervisor never sends */
export function parseLine(line: string): SupervisorLine | undefined {
  const [what, ...words] = line.split(' ')
  if (!words.every((word) => /^\d{1,9}$/.test(word))) return undefined
  const [first = 0, second = 0, ...fds] = words.map(Number)
  if (what === 'hello' && words.length === 1) return { what, filterBytes: first }
  if (what === 'short' && words.length === 1) return { what, errno: first }
  if (what === 'end' && words.length === 2 && second <= 255) return { what, id: first, status: second }
  if (what === 'unlisted' && words.length === 2 && second <= 1) return { what, id: first, isUnreadable: second === 1 }
  if (what !== 'spare' || words.length !== 8) return undefined
  const [pidfd = 0, order = 0, stdin = 0, stdout = 0, stderr = 0, report = 0] = fds
  return { what, id: first, pid: second, fds: { pidfd, order, stdin, stdout, stderr, report } }
}

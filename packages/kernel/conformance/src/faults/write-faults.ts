import { paths, WorkspaceError } from '@ws/core'
import { change, type Fault } from './fault.ts'

export const writeFaults: readonly Fault[] = [
  {
    name: 'writes piece by piece, so that a failed write leaves half',
    caughtBy: 'leaves the old content and no trace when its body fails',
    apply: (inner) =>
      change(inner, {
        async write(path, data, options) {
          if (!(Symbol.asyncIterator in data)) return inner.write(path, data, options)
          let result = await inner.write(path, new Uint8Array(), options)
          for await (const chunk of data) result = (await inner.append?.(path, chunk)) ?? result
          return result
        },
      }),
  },
  {
    name: 'writes beside the file first, where listings show it',
    caughtBy: 'shows nothing of the new content before it is complete',
    apply: (inner) =>
      change(inner, {
        async write(path, data, options) {
          if (!(Symbol.asyncIterator in data)) return inner.write(path, data, options)
          const temporary = paths.parseMount(`${path}.tmp`)
          await inner.write(temporary, new Uint8Array(), { parents: options?.parents })
          try {
            return await inner.write(path, data, options)
          } finally {
            await inner.delete(temporary)
          }
        },
      }),
  },
  {
    name: 'ignores the condition of a write',
    caughtBy: 'write: replaces exactly that version',
    apply: (inner) =>
      change(inner, { write: (path, data, options) => inner.write(path, data, { ...options, ifVersion: undefined }) }),
  },
  {
    name: 'checks a condition first and writes later',
    caughtBy: 'of 50 writers with the same version exactly one wins',
    apply: (inner) =>
      change(inner, {
        async write(path, data, options) {
          const ifVersion = options?.ifVersion
          if (ifVersion === undefined || ifVersion === 'absent') return inner.write(path, data, options)
          const { version } = await inner.stat(path)
          if (version === ifVersion) return inner.write(path, data, { ...options, ifVersion: undefined })
          throw new WorkspaceError({ code: 'ECONFLICT', operation: 'write', path, reason: 'has changed' })
        },
      }),
  },
  {
    name: 'takes the size for a version',
    caughtBy: 'change with every change, also to what looks the same',
    apply: (inner) =>
      change(inner, {
        async stat(path, options) {
          const stat = await inner.stat(path, options)
          return { ...stat, version: `${stat.size}` }
        },
        async write(path, data, options) {
          const result = await inner.write(path, data, options)
          return { ...result, version: `${result.size}` }
        },
      }),
  },
]

import { paths, WorkspaceError } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { change, type Fault } from './fault.ts'

export const otherFaults: readonly Fault[] = [
  {
    name: 'ignores ranges',
    caughtBy: 'gives a range, and the stat of the whole file with it',
    apply: (inner) => change(inner, { read: (path, options) => inner.read(path, { ...options, range: undefined }) }),
  },
  {
    name: 'hides dotfiles',
    caughtBy: 'gives the entries of one directory, dotfiles included',
    apply: (inner) =>
      change(inner, {
        async *list(path, options) {
          for await (const entry of inner.list(path, options)) if (!entry.name.startsWith('.')) yield entry
          return undefined
        },
      }),
  },
  {
    name: 'enters excluded subtrees',
    caughtBy: 'does not enter excluded subtrees, which are entries all the same',
    apply: (inner) => change(inner, { list: (path, options) => inner.list(path, { ...options, exclude: undefined }) }),
  },
  {
    name: 'overwrites when it moves',
    caughtBy: 'to where something is, is EEXIST, also to a directory',
    apply: (inner) =>
      change(inner, { move: (from, to, options) => inner.move(from, to, { ...options, overwrite: true }) }),
  },
  {
    name: 'deletes a missing path without a word',
    caughtBy: 'of a missing path is ENOENT, and fine with `force`',
    apply: (inner) => change(inner, { delete: (path, options) => inner.delete(path, { ...options, force: true }) }),
  },
  {
    name: 'deletes full directories without being asked to',
    caughtBy: 'of a directory that is not empty is ENOTEMPTY',
    apply: (inner) => change(inner, { delete: (path, options) => inner.delete(path, { ...options, recursive: true }) }),
  },
  {
    name: 'drops changes of a read-only store silently',
    caughtBy: 'every change of a read-only store is EROFS',
    apply: (inner) =>
      change(
        { ...inner, capabilities: { ...inner.capabilities, readOnly: true } },
        {
          delete: async () => undefined,
        },
      ),
  },
  {
    name: 'names paths of the store behind in its errors',
    caughtBy: 'name the operation and the path inside the mount',
    apply: (inner) =>
      change(inner, {
        async stat(path, options) {
          try {
            return await inner.stat(path, options)
          } catch (error) {
            if (!(error instanceof WorkspaceError)) throw error
            const { code, operation, reason } = error
            throw new WorkspaceError({ code, operation, path: `/srv/data${path}`, reason })
          }
        },
      }),
  },
  {
    name: 'throws errors that are not a WorkspaceError',
    caughtBy: 'name the operation and the path inside the mount',
    apply: (inner) =>
      change(inner, {
        read: async (path, options) => {
          try {
            return await inner.read(path, options)
          } catch (error) {
            if (error instanceof WorkspaceError && error.code === 'ENOENT') throw new Error('ENOENT: no such file')
            throw error
          }
        },
      }),
  },
  {
    name: 'ignores signals',
    caughtBy: 'write: a signal that is aborted already rejects with its reason',
    apply: (inner) =>
      change(inner, { write: (path, data, options) => inner.write(path, data, { ...options, signal: undefined }) }),
  },
  {
    name: 'drops new permission bits without a word',
    caughtBy: 'sets the permission bits, and leaves content and time',
    apply: (inner) => change(inner, { chmod: async (path) => void (await inner.stat(path)) }),
  },
  {
    name: 'drops new times without a word',
    caughtBy: 'sets the time, and leaves content and bits',
    apply: (inner) => change(inner, { utimes: async (path) => void (await inner.stat(path)) }),
  },
  {
    name: 'goes on after close',
    caughtBy: 'makes every later call ECLOSED',
    apply: (inner) => change(inner, { close: async () => undefined }),
  },
  {
    name: 'promises an operation that is not there',
    caughtBy: 'search: there exactly where the capability says so',
    apply: (inner) => {
      const { search: _, ...rest } = inner
      return rest
    },
  },
  {
    name: 'has an operation that it does not promise',
    caughtBy: 'append: there exactly where the capability says so',
    apply: (inner) => ({ ...inner, capabilities: { ...inner.capabilities, append: false } }),
  },
  {
    name: 'takes a pattern for a regular expression',
    caughtBy: 'takes a literal pattern as data',
    apply: (inner) => {
      const { search } = inner
      if (search === undefined) return inner
      const regexOf = (query: Parameters<typeof search>[0]): string => query.pattern.replaceAll('[', '\\[')
      return change(inner, {
        search: (query, options) => search({ ...query, pattern: regexOf(query), regex: true }, options),
      })
    },
  },
  {
    name: 'normalises names',
    caughtBy: 'that differ in case or in normalisation only are two',
    apply: (inner) =>
      change(inner, {
        write: (path, data, options) => inner.write(paths.parseMount(path.normalize('NFC')), data, options),
      }),
  },
  {
    name: 'loses its hints at changes',
    caughtBy: 'covers each change of an entry in the next hints',
    apply: (inner) => change(inner, { watch: async () => ({ take: async () => new Set(), close: () => undefined }) }),
  },
  {
    name: 'gives each hint one question too late',
    caughtBy: 'covers each change of an entry in the next hints',
    apply: (inner) =>
      change(inner, {
        async watch(path, options) {
          const hints = await inner.watch?.(path, options)
          let late: ReadonlySet<MountPath> | undefined = new Set()
          const take = async () => {
            const now = late
            late = await hints?.take()
            return now
          }
          return { take, close: () => hints?.close() }
        },
      }),
  },
]

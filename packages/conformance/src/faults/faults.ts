import { LinkSignal, parseMountPath, WorkspaceError, type MountPath, type StorageAdapter } from '@ws/core'
import { drain, encode } from '../adapter/case.ts'
import { change } from './change.ts'

/** A way to break an adapter: exactly one promise of the contract. */
export interface Fault {
  /** What is wrong with it. */
  readonly name: string
  /** A test of the kit that must catch it: a part of its title. */
  readonly caughtBy: string
  /** The adapter, broken. */
  readonly apply: (adapter: StorageAdapter) => StorageAdapter
}

/** Resolves a link's target without asking anybody: what no adapter may do. */
function follow({ at, target, rest }: LinkSignal): MountPath {
  const base = target.startsWith('/') ? target : `${at.slice(0, at.lastIndexOf('/'))}/${target}`
  return parseMountPath(new URL(`${base}/${rest}`, 'file:').pathname)
}

async function following<Result>(path: MountPath, run: (path: MountPath) => Promise<Result>): Promise<Result> {
  try {
    return await run(path)
  } catch (error) {
    if (error instanceof LinkSignal) return run(follow(error))
    throw error
  }
}

/**
 * Adapters that are each wrong in one way, on top of one that is right and offers everything. The kit must catch each one:
 * whoever changes the kit sees at once when a promise is no longer tested.
 */
export const faults: readonly Fault[] = [
  {
    name: 'reads through links instead of reporting them',
    caughtBy: 'read: a link at the end is a LinkSignal',
    apply: (inner) => change(inner, { read: (path, options) => following(path, (it) => inner.read(it, options)) }),
  },
  {
    name: 'writes through links instead of reporting them',
    caughtBy: 'write: a link before the end is a LinkSignal',
    apply: (inner) =>
      change(inner, { write: (path, data, options) => following(path, (it) => inner.write(it, data, options)) }),
  },
  {
    name: 'reads the body before it reports a link',
    caughtBy: 'a body is not touched before a link is reported',
    apply: (inner) =>
      change(inner, {
        write: async (path, data, options) =>
          inner.write(path, Symbol.asyncIterator in data ? await drain(data) : data, options),
      }),
  },
  {
    name: 'says of a link only where it was met, not what was behind it',
    caughtBy: 'stat: a link before the end is a LinkSignal',
    apply: (inner) =>
      change(inner, {
        async stat(path, options) {
          try {
            return await inner.stat(path, options)
          } catch (error) {
            if (error instanceof LinkSignal) throw new LinkSignal({ at: error.at, target: error.target, rest: '' })
            throw error
          }
        },
      }),
  },
  {
    name: 'stats what a link leads to',
    caughtBy: 'is of a link itself',
    apply: (inner) =>
      change(inner, {
        async stat(path, options) {
          const stat = await inner.stat(path, options)
          if (stat.type !== 'symlink') return stat
          const target = (await inner.readSymlink?.(path)) ?? ''
          return inner.stat(follow(new LinkSignal({ at: path, target, rest: '' })), options)
        },
      }),
  },
  {
    name: 'copies what a link leads to',
    caughtBy: 'copies links as links',
    apply: (inner) =>
      change(inner, {
        async copy(source, destination, options) {
          const { type } = await inner.stat(source)
          if (type !== 'symlink') return inner.copy(source, destination, options)
          return inner.write(destination, encode('what the link leads to'))
        },
      }),
  },
  {
    name: 'follows a link in an `absent` write',
    caughtBy: 'an `absent` write never follows',
    apply: (inner) =>
      change(inner, {
        async write(path, data, options) {
          const found = await inner.stat(path).catch(() => undefined)
          if (options?.ifVersion !== 'absent' || found?.type !== 'symlink') return inner.write(path, data, options)
          return inner.write(path, data, { ...options, ifVersion: undefined })
        },
      }),
  },
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
          const temporary = parseMountPath(`${path}.tmp`)
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
    name: 'deletes without a word what is not there',
    caughtBy: 'of what is not there is ENOENT, and fine with `force`',
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
    name: 'throws errors that are no WorkspaceError',
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
        write: (path, data, options) => inner.write(parseMountPath(path.normalize('NFC')), data, options),
      }),
  },
]

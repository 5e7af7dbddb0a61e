import { paths } from '@ws/core'
import { LinkSignal, type MountPath } from '@ws/core/adapter'
import { drain, encode } from '../adapter/case.ts'
import { change, type Fault } from './fault.ts'

/** Resolves a link's target without the workspace. No adapter may do this. */
function follow({ at, target, rest }: LinkSignal): MountPath {
  const base = target.startsWith('/') ? target : `${at.slice(0, at.lastIndexOf('/'))}/${target}`
  return paths.parseMount(new URL(`${base}/${rest}`, 'file:').pathname)
}

async function following<Result>(path: MountPath, run: (path: MountPath) => Promise<Result>): Promise<Result> {
  try {
    return await run(path)
  } catch (error) {
    if (error instanceof LinkSignal) return run(follow(error))
    throw error
  }
}

export const linkFaults: readonly Fault[] = [
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
]

import { createWorkspace, rules, type Workspace, WorkspaceError, type WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { posix } from 'node:path'

export type OpenWorkspace = (options: WorkspaceOptions) => Promise<Workspace>

export interface WorkspaceFault {
  readonly name: string
  readonly caughtBy: string
  readonly open: OpenWorkspace
}

function change<Changed extends Workspace | StorageAdapter>(inner: Changed, methods: Partial<Changed>): Changed {
  return new Proxy(inner, {
    get(target, key) {
      if (key in methods) return Reflect.get(methods, key)
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Makes a faulty workspace from a correct one, by replacing methods. */
const broken =
  (methods: (inner: Workspace, options: WorkspaceOptions) => Partial<Workspace>): OpenWorkspace =>
  async (options) => {
    const inner = await createWorkspace(options)
    return change(inner, methods(inner, options))
  }

/** Makes a workspace whose replaced methods use a second workspace without rules. */
const aroundRules =
  (methods: (inner: Workspace) => Partial<Workspace>): OpenWorkspace =>
  async (options) => {
    const [inner, lax] = [await createWorkspace(options), await createWorkspace({ ...options, rules: [] })]
    const close = async (): Promise<void> => {
      await lax.close()
      await inner.close()
    }
    return change(inner, { ...methods(lax), close })
  }

/** A workspace that shares one `/tmp` with all workspaces. */
function withOneScratch(): OpenWorkspace {
  let only: Promise<StorageAdapter> | undefined
  return ({ mounts: [first, ...others], ...options }) => {
    if (typeof first?.adapter !== 'object') throw new Error('the kit mounts adapters')
    const { adapter } = first
    const createScratch = () => (only ??= adapter.createScratch?.() ?? Promise.reject(new Error('it has no scratch')))
    return createWorkspace({
      ...options,
      mounts: [{ ...first, adapter: change(adapter, { createScratch }) }, ...others],
    })
  }
}

const deniedPaths = ({ rules: list = [] }: WorkspaceOptions): string[] =>
  list.flatMap((rule) =>
    rule.kind === 'subtree' ? rule.entries.filter(({ access }) => access === 'none').map(({ path }) => path) : [],
  )

export const workspaceFaults: readonly WorkspaceFault[] = [
  {
    name: 'hides dotfiles from the file door',
    caughtBy: '[PC1, PC6] are listed at the same paths, dotfiles included',
    open: broken((inner) => ({
      async *list(path, options) {
        for await (const entry of inner.list(path, options)) if (!entry.path.includes('/.')) yield entry
        return undefined
      },
    })),
  },
  {
    name: 'answers reads from a copy',
    caughtBy: '[PC5, PC7] the file door reads at once, byte for byte, what a command writes',
    open: broken((inner) => {
      const copies = new Map<string, Promise<string>>()
      return {
        readText(path, options) {
          const copy = copies.get(path) ?? inner.readText(path, options)
          copies.set(path, copy)
          return copy
        },
      }
    }),
  },
  {
    name: 'shows commands a state of before',
    caughtBy: '[PC5, PC7] a command reads at once, byte for byte, what the file door writes',
    open: broken((inner) => {
      let last = new Map<string, string>()
      return {
        async write(path, data, options) {
          const old = last.get(path)
          if (typeof data !== 'string') return inner.write(path, data, options)
          last = new Map(last).set(path, data)
          return inner.write(path, old ?? data, options)
        },
      }
    }),
  },
  {
    name: 'asks no policy at the file door',
    caughtBy: '[PM2, PM5, X13] outside the output root is refused at both doors, inside goes on',
    open: aroundRules((lax) => ({ write: (path, data, options) => lax.write(path, data, options) })),
  },
  {
    name: 'asks no policy for commands',
    caughtBy: 'is neither read nor changed by › cat work/private/key',
    open: aroundRules((lax) => ({ exec: (command, options) => lax.exec(command, options) })),
  },
  {
    name: 'takes what begins alike for the output root',
    caughtBy: '[PM2, PM5, X13] outside the output root is refused at both doors, inside goes on',
    open: (options) => {
      const widened = (options.rules ?? []).flatMap((rule) =>
        rule.kind === 'subtree' && rule.confines
          ? rule.entries
              .filter(({ access }) => access === 'read-write')
              .map(({ path }) => rules.allow(`${path}put`, { justification: 'it begins alike' }))
          : [],
      )
      return createWorkspace({ ...options, rules: [...(options.rules ?? []), ...widened] })
    },
  },
  {
    name: 'matches denied paths by how they begin',
    caughtBy: '[PC18] match by component: a name that begins alike is another one',
    open: broken((inner, options) => ({
      readText(path, more) {
        const absolute = path.startsWith('/') ? path : posix.join(inner.root, path)
        if (deniedPaths(options).every((denied) => !absolute.startsWith(denied))) return inner.readText(path, more)
        return Promise.reject(new WorkspaceError({ code: 'EACCES', operation: 'read', path, reason: 'is denied' }))
      },
    })),
  },
  {
    name: 'resolves `..` in the text of a path',
    caughtBy: '[PC3] `..` behind a link is the parent of where it leads',
    open: broken((inner) => ({ readText: (path, options) => inner.readText(posix.normalize(path), options) })),
  },
  {
    name: 'strips leading dots on the way back',
    caughtBy: '[PC20, PC21] that are odd survive from commands to the file door',
    open: broken((inner) => ({
      async *list(path, options) {
        for await (const entry of inner.list(path, options)) {
          const stripped = entry.path.replaceAll('/.', '/') as typeof entry.path
          yield { ...entry, path: stripped }
        }
        return undefined
      },
    })),
  },
  {
    name: 'trims names',
    caughtBy: '[PC20, PC21] that are odd survive from the file door to commands',
    open: broken((inner) => ({ write: (path, data, options) => inner.write(path.trim(), data, options) })),
  },
  {
    name: 'takes a pattern for a regular expression',
    caughtBy: '[PC22] in patterns and globs are data',
    open: broken((inner) => ({
      search: (pattern, options) =>
        inner.search(pattern.replaceAll(/[$()]/g, String.raw`\$&`), { ...options, regex: true }),
    })),
  },
  {
    name: 'takes the alias off as often as it comes',
    caughtBy: '[FS13] the alias is the root: one exact leading segment, once',
    open: broken((inner) => ({ read: (path, options) => inner.read(path.replace(/^(\/workspace)+/, ''), options) })),
  },
  {
    name: 'counts lines from 1',
    caughtBy: '[PC25] by window counts lines from 0 and defines every edge',
    open: broken((inner) => ({
      async readLines(path, options) {
        const window = await inner.readLines(path, options)
        return { ...window, offset: window.offset + 1 }
      },
    })),
  },
  {
    name: 'edits the first of several places',
    caughtBy: '[PC23] refuses text that is missing, or there more than once, and changes nothing',
    open: broken((inner) => ({
      edit: (path, edits, options) =>
        inner.edit(
          path,
          (content) => {
            const [edit] = typeof edits === 'function' ? [] : [edits].flat()
            if (typeof edits === 'function' || edit === undefined) return content
            const text = new TextDecoder().decode(content)
            return new TextEncoder().encode(text.replace(edit.oldText, () => edit.newText))
          },
          options,
        ),
    })),
  },
  {
    name: 'writes edits over changes that came between',
    caughtBy: '[PC23] begins again where the file has changed, and gives up in time',
    open: broken((inner) => ({
      async edit(path, edits, options) {
        if (typeof edits !== 'function') return inner.edit(path, edits, options)
        const { bytes, stat } = await inner.read(path)
        const written = await inner.write(path, await edits(bytes, stat))
        return { ...written, replacements: 1, attempts: 1 }
      },
    })),
  },
  {
    name: 'finds by globs what denied directories hold',
    caughtBy: 'tell nothing of a denied directory, by any pattern',
    open: aroundRules((lax) => ({ glob: (patterns, options) => lax.glob(patterns, options) })),
  },
  {
    name: 'gives the real path of denied entries',
    caughtBy: 'realPath and followLinks tell nothing that stat would not',
    open: aroundRules((lax) => ({ realPath: (path, options) => lax.realPath(path, options) })),
  },
  {
    name: 'mounts skills only where the store has links',
    caughtBy: '[PC14] skills are there without links, as a mount',
    open: ({ mounts, ...options }) => {
      const [first] = mounts
      const links = typeof first?.adapter !== 'object' || first.adapter.capabilities.symlinks
      return createWorkspace({ ...options, mounts: links ? mounts : mounts.slice(0, 1) })
    },
  },
  {
    name: 'gives all workspaces one /tmp',
    caughtBy: '[RP20] /tmp is the workspace’s own, the same at both doors, and listed nowhere',
    open: withOneScratch(),
  },
  {
    name: 'deletes around a denied part without a word',
    caughtBy: 'stops what is recursive at the file door, before anything is touched',
    open: broken((inner) => ({
      delete: (path, options) => inner.delete(path, options).catch(() => undefined),
    })),
  },
]

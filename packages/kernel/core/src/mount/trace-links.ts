import type { StorageAdapter } from '../contract/adapter.ts'
import { LinkSignal } from '../adapter/link-signal.ts'
import type { FileType } from '../contract/file-types.ts'
import { isWorkspaceError } from '../errors.ts'
import type { AliasNames } from '../path/segments.ts'
import { relativeTo } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { DeclaredRules } from '../policy/declared-rules.ts'
import { Namespace } from '../policy/namespace.ts'
import { RulePolicy } from '../policy/policy.ts'
import { Gate } from './gate.ts'
import type { Located } from './gate.ts'
import { linkAt } from './links.ts'
import type { WorkspaceMount } from './mounts.ts'
import { Walker } from './walk.ts'

/** The steps from a path to the entry that a command would open. */
export interface LinkTrace {
  /** The links on the path, with their stored targets. */
  readonly links: readonly { readonly path: VirtualPath; readonly target: string }[]
  readonly landed: VirtualPath
  /** `nowhere`: a loop, or a path that leaves the workspace or passes through a file. */
  readonly type: FileType | 'missing' | 'nowhere'
}

interface LinkTracerOptions {
  readonly mounts: readonly WorkspaceMount[]
  readonly reserved: readonly VirtualPath[]
  readonly root: VirtualPath
  readonly aliases: AliasNames
  readonly open: (mount: WorkspaceMount) => StorageAdapter | Promise<StorageAdapter>
}

const endings = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG', 'EINVAL'] as const

/** Follows links as the kernel does for a command, without checking rules. */
export class LinkTracer {
  readonly #namespace: Namespace<WorkspaceMount>
  readonly #walker: Walker

  constructor({ mounts, reserved, root, aliases, open }: LinkTracerOptions) {
    this.#namespace = new Namespace({ mounts, rules: [], reserved })
    const declared = new DeclaredRules([], [])
    const gate = new Gate({ namespace: this.#namespace, policy: new RulePolicy([]), declared, root })
    this.#walker = new Walker(gate, aliases, open)
  }

  async trace(path: VirtualPath): Promise<LinkTrace> {
    const links: LinkTrace['links'][number][] = []
    const budget = { links: 0 }
    for (let landed = path; ; ) {
      const node = this.#namespace.find(landed)
      const { mount } = node
      if (node.reserved) return { links, landed, type: 'nowhere' }
      if (mount?.adapter === undefined) {
        const isDirectory = node.path === landed && node.leadsToMount
        return { links, landed, type: isDirectory ? 'directory' : 'nowhere' }
      }
      const located = { virtual: landed, node, mount, path: relativeTo(landed, mount.at) }
      try {
        const found = await entryAt(located, mount.adapter)
        if (!(found instanceof LinkSignal)) return { links, landed, type: found }
        links.push({ path: linkAt(located, found), target: found.target })
        landed = await this.#walker.next('stat', located, found, budget)
      } catch (error) {
        if (!endings.some((code) => isWorkspaceError(error, code))) throw error
        return { links, landed, type: 'nowhere' }
      }
    }
  }
}

async function entryAt({ path }: Located, adapter: StorageAdapter): Promise<FileType | 'missing' | LinkSignal> {
  try {
    const { type } = await adapter.stat(path)
    if (type !== 'symlink') return type
    return new LinkSignal({ at: path, target: (await adapter.readSymlink?.(path)) ?? '', rest: '' })
  } catch (error) {
    if (error instanceof LinkSignal) return error
    if (isWorkspaceError(error, 'ENOENT')) return 'missing'
    throw error
  }
}

import type { Workspace } from '@ws/core'
import { type StorageAdapter, parseMountPath } from '@ws/core/adapter'

import { drain, own } from '../measure.ts'
import type { Contender } from './contender.ts'

/** Through the whole workspace: parsing, policy, mount table, audit. */
export function ownContender(workspace: Workspace): Contender {
  const at = (path: string): string => `${workspace.root}/${path}`
  return {
    name: own,
    operations: {
      read: (path) => workspace.read(at(path)),
      stat: (path) => workspace.stat(at(path)),
      list: (path) => drain(workspace.list(at(path))),
      listWithDetails: (path) => drain(workspace.list(at(path), { details: true })),
      listTree: (path) => drain(workspace.list(at(path), { recursive: true })),
      write: (path, content) => workspace.write(at(path), content),
      create: (path, content) => workspace.write(at(path), content, { ifVersion: 'absent' }),
    },
  }
}

/** The adapter alone: its cost without the workspace around it. */
export function adapterContender(adapter: StorageAdapter): Contender {
  const at = (path: string) => parseMountPath(`/${path}`)
  return {
    name: 'adapter alone',
    operations: {
      read: (path) => adapter.read(at(path)),
      stat: (path) => adapter.stat(at(path)),
      list: (path) => drain(adapter.list(at(path))),
      listWithDetails: (path) => drain(adapter.list(at(path), { details: true })),
      listTree: (path) => drain(adapter.list(at(path), { recursive: true })),
      write: (path, content) => adapter.write(at(path), content),
      create: (path, content) => adapter.write(at(path), content, { ifVersion: 'absent' }),
    },
  }
}

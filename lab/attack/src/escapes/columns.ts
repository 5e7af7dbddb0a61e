import type { Executor, Guarantees } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { type ComponentName, component } from '@ws/test-fixtures'

/** One executor at one root, as far as this machine lets it be. */
export interface Column {
  readonly name: string
  readonly root: '/' | '/workspace'
  readonly components: readonly ComponentName[]
  create(): Executor
  /** The guarantees that make the column what its name says: another machine may offer less. */
  readonly requires?: Partial<Guarantees>
}

const roots = ['/', '/workspace'] as const

export const columns: readonly Column[] = [
  {
    name: 'bubblewrap at /',
    root: '/',
    components: ['bubblewrap', 'perl'],
    create: () => createBubblewrapExecutor({ root: 'direct' }),
  },
  {
    name: 'bubblewrap with proot at /',
    root: '/',
    components: ['bubblewrap', 'proot'],
    create: () => createBubblewrapExecutor({ root: 'translated' }),
  },
  {
    name: 'bubblewrap at /workspace',
    root: '/workspace',
    components: ['bubblewrap'],
    create: () => createBubblewrapExecutor(),
  },
  {
    name: 'bubblewrap at /workspace, no Unix sockets',
    root: '/workspace',
    components: ['bubblewrap'],
    create: () => createBubblewrapExecutor({ unixSockets: 'none' }),
  },
  ...roots.map(
    (root): Column => ({
      name: `proot at ${root}, Landlock`,
      root,
      components: ['proot', 'landlock'],
      create: () => createProotExecutor(),
      requires: { fileContent: 'kernel', processes: 'kernel' },
    }),
  ),
  {
    name: 'proot at /, Landlock, no PID namespace',
    root: '/',
    components: ['proot', 'landlock'],
    create: () => createProotExecutor({ pidNamespace: 'off' }),
    requires: { fileContent: 'kernel', processes: 'translated' },
  },
  {
    name: 'proot at /, no Landlock',
    root: '/',
    components: ['proot'],
    create: () => createProotExecutor({ landlock: 'off' }),
    requires: { fileContent: 'translated', processes: 'kernel' },
  },
  {
    name: 'proot at /, neither',
    root: '/',
    components: ['proot'],
    create: () => createProotExecutor({ landlock: 'off', pidNamespace: 'off' }),
    requires: { fileContent: 'translated', processes: 'none' },
  },
  ...roots.map(
    (root): Column => ({
      name: `sanitize at ${root}, Landlock`,
      root,
      components: ['perl', 'landlock'],
      // Its own refusal of programs that it does not know would try nothing.
      create: () => createSanitizeExecutor({ trustPrograms: 'all' }),
      requires: { fileContent: 'kernel' },
    }),
  ),
  {
    name: 'sanitize at /, no Landlock',
    root: '/',
    components: ['perl'],
    create: () => createSanitizeExecutor({ trustPrograms: 'all', landlock: 'off' }),
    requires: { fileContent: 'none' },
  },
  ...roots.map(
    (root): Column => ({
      name: `virtual at ${root}`,
      root,
      components: [],
      create: () => createVirtualExecutor(),
    }),
  ),
]

/** The components that a column needs, the programs included that make the attempts. */
export function columnComponents({ components }: Pick<Column, 'components'>): readonly ComponentName[] {
  return [...components, 'python3', 'cc']
}

/** Why a column cannot be had here; absent: it can. */
export function unavailable({ components }: Column): string | undefined {
  const missing = columnComponents({ components })
    .map(component)
    .find(({ available }) => !available)
  return missing === undefined ? undefined : `${missing.name}: ${missing.reason}`
}

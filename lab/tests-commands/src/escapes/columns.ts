import type { Executor, Guarantees } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { type ComponentName, component } from '@ws/test-fixtures'

/** One executor at one root, with the features of this machine. */
export interface Column {
  readonly name: string
  readonly root: '/' | '/workspace'
  readonly components: readonly ComponentName[]
  create(): Executor
  /** The guarantees that the column's name promises. Another machine may offer less. */
  readonly requires?: Partial<Guarantees>
}

const bubblewrap = { root: '/workspace', components: ['bubblewrap'] } as const
const proot = { root: '/', components: ['proot'] } as const
const locked = { components: ['proot', 'landlock'] } as const
/** Without trust, sanitize refuses unknown programs, and the run would test nothing. */
const trustPrograms = 'all'

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
  { name: 'bubblewrap at /workspace', ...bubblewrap, create: () => createBubblewrapExecutor() },
  {
    name: 'bubblewrap at /workspace, no Unix sockets',
    ...bubblewrap,
    create: () => createBubblewrapExecutor({ unixSockets: 'none' }),
  },
  ...atRoots({
    name: 'proot at ROOT, Landlock',
    ...locked,
    create: () => createProotExecutor(),
    requires: { fileContent: 'kernel', processes: 'kernel' },
  }),
  {
    name: 'proot at /, Landlock, no PID namespace',
    ...{ ...proot, ...locked },
    create: () => createProotExecutor({ pidNamespace: 'off' }),
    requires: { fileContent: 'kernel', processes: 'translated' },
  },
  {
    name: 'proot at /, no Landlock',
    ...proot,
    create: () => createProotExecutor({ landlock: 'off' }),
    requires: { fileContent: 'translated', processes: 'kernel' },
  },
  {
    name: 'proot at /, neither',
    ...proot,
    create: () => createProotExecutor({ landlock: 'off', pidNamespace: 'off' }),
    requires: { fileContent: 'translated', processes: 'none' },
  },
  ...atRoots({
    name: 'sanitize at ROOT, Landlock',
    components: ['perl', 'landlock'],
    create: () => createSanitizeExecutor({ trustPrograms }),
    requires: { fileContent: 'kernel' },
  }),
  {
    name: 'sanitize at /, no Landlock',
    root: '/',
    components: ['perl'],
    create: () => createSanitizeExecutor({ trustPrograms, landlock: 'off' }),
    requires: { fileContent: 'none' },
  },
  ...atRoots({ name: 'virtual at ROOT', components: [], create: () => createVirtualExecutor() }),
]

function atRoots({ name, ...column }: Omit<Column, 'root'>): Column[] {
  return (['/', '/workspace'] as const).map((root) => ({ ...column, name: name.replace('ROOT', root), root }))
}

/** The components that a column needs, including the programs that make the attempts. */
export function columnComponents({ components }: Pick<Column, 'components'>): readonly ComponentName[] {
  return [...components, 'python3', 'cc']
}

export function unavailable({ components }: Column): string | undefined {
  const missing = columnComponents({ components })
    .map(component)
    .find(({ available }) => !available)
  return missing === undefined ? undefined : `${missing.name}: ${missing.reason}`
}

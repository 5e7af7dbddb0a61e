/** @module-tag all */
import { testAdapter } from '@ws/conformance/vitest'
import { createMapAdapter } from './map-adapter.ts'
import { createSqliteAdapter } from './sqlite-adapter.ts'
import { createTreeAdapter } from './tree-adapter.ts'

testAdapter({ name: 'map', create: () => ({ adapter: createMapAdapter() }) })
testAdapter({ name: 'sqlite', create: () => ({ adapter: createSqliteAdapter(':memory:') }) })
testAdapter({ name: 'tree', create: () => ({ adapter: createTreeAdapter() }) })

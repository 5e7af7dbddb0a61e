import { testAdapter } from '../../src/vitest.ts'
import { createMapAdapter } from './map-adapter.ts'

testAdapter({ name: 'map', create: () => ({ adapter: createMapAdapter() }) })

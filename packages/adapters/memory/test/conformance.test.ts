import { testAdapter } from '@ws/conformance/vitest'
import { observe, paths, prefix, readOnly } from '@ws/core'
import { describe } from 'vitest'
import { createMemoryAdapter } from '../src/index.ts'
import { without } from './without.ts'

const create = createMemoryAdapter

testAdapter({ name: 'memory', create: () => ({ adapter: create() }) })

describe('large numbers', { tags: ['deep'] }, () => {
  testAdapter({ name: 'memory', deep: true, create: () => ({ adapter: create() }) })
})

testAdapter({
  name: 'prefix(memory)',
  create: async () => {
    const inner = create({ files: { '/other/file': 'outside', '/deep/where-it-lies-2/file': 'outside' } })
    await inner.createDirectory(paths.parseMount('/deep/where-it-lies'))
    return {
      adapter: prefix(inner, '/deep/where-it-lies'),
      removeRoot: () => inner.delete(paths.parseMount('/deep/where-it-lies'), { recursive: true }),
      secrets: ['where-it-lies', 'deep'],
    }
  },
})

testAdapter({
  name: 'readOnly(memory)',
  create: () => {
    const seed = create()
    return { adapter: readOnly(seed, { shared: true }), seed }
  },
})

testAdapter({ name: 'observe(memory)', create: () => ({ adapter: observe(create(), () => undefined) }) })

testAdapter({
  name: 'observe(prefix(prefix(memory)))',
  create: async () => {
    const inner = create()
    await inner.createDirectory(paths.parseMount('/a/b/c'), { recursive: true })
    return { adapter: observe(prefix(prefix(inner, '/a/b'), '/c'), () => undefined) }
  },
})

testAdapter({
  name: 'memory without what is optional',
  create: () => {
    const adapter = create()
    return { adapter: without(adapter), seed: adapter }
  },
})

import { testAdapter } from '@ws/conformance/vitest'
import { observe, prefix, readOnly } from '@ws/core'
import { parseMountPath } from '@ws/core/adapter'
import { createMemoryAdapter } from '../src/index.ts'
import { without } from './without.ts'

const deep = process.env['WS_DEEP'] === '1'
const create = createMemoryAdapter

testAdapter({ name: 'memory', deep, create: () => ({ adapter: create() }) })

testAdapter({
  name: 'prefix(memory)',
  deep,
  create: async () => {
    const inner = create({ files: { '/other/file': 'outside', '/deep/where-it-lies-2/file': 'outside' } })
    await inner.createDirectory(parseMountPath('/deep/where-it-lies'))
    return {
      adapter: prefix(inner, '/deep/where-it-lies'),
      removeRoot: () => inner.delete(parseMountPath('/deep/where-it-lies'), { recursive: true }),
      secrets: ['where-it-lies', 'deep'],
    }
  },
})

testAdapter({
  name: 'readOnly(memory)',
  deep,
  create: () => {
    const seed = create()
    return { adapter: readOnly(seed, { shared: true }), seed }
  },
})

testAdapter({ name: 'observe(memory)', deep, create: () => ({ adapter: observe(create(), () => undefined) }) })

testAdapter({
  name: 'observe(prefix(prefix(memory)))',
  deep,
  create: async () => {
    const inner = create()
    await inner.createDirectory(parseMountPath('/a/b/c'), { recursive: true })
    return { adapter: observe(prefix(prefix(inner, '/a/b'), '/c'), () => undefined) }
  },
})

testAdapter({
  name: 'memory without what is optional',
  deep,
  create: () => {
    const adapter = create()
    return { adapter: without(adapter), seed: adapter }
  },
})

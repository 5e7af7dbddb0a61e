/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { component, describeWith, onDisk, openEngine } from '@ws/test-fixtures'
import { afterAll } from 'vitest'

import { createContainerExecutor } from '../../src/container/index.ts'

describeWith([component('dockerd')], 'a container', async () => {
  const engine = await openEngine(['python3-minimal'])
  afterAll(() => engine[Symbol.asyncDispose]())
  const executor = createContainerExecutor({ engine: engine.address, image: engine.image })
  const create = () => onDisk(executor, createLocalAdapter, storesBeside)

  testExecutor({ name: 'container', create, roots: ['/workspace'] })
  testWorkspace({ name: 'container', create, roots: ['/workspace'] })
})

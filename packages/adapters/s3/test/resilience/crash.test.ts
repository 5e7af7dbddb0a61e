/** @module-tag all */
import { isWorkspaceError, paths, type Version } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describeWith, deep } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { expect, it } from 'vitest'
import { makeContent } from './content.ts'
import { adaptersOn, longTimeout } from './site.ts'
import { look } from './writer.ts'

const crashes = deep ? 8 : 1
const writerCount = 6
/** Writes between two crashes. */
const interval = 40

describeWith(s3Needs('ceph'), 'a gateway that is killed again and again', () => {
  it(`loses nothing that was acknowledged, over ${crashes} crashes`, {
    tags: 'rounds',
    timeout: longTimeout,
  }, async () => {
    await using server = await startCephServer()
    const adapters = await adaptersOn(server, writerCount, { attemptTimeout: 5_000, deadline: 20_000 })
    const { gateway } = server
    let acknowledged = 0
    let over = false
    let arrived: (() => void) | undefined
    const writers = adapters.map((adapter, index) => new PersistentWriter(adapter, `/file ${index}`, index))
    const working = Promise.all(
      writers.map(async (writer) => {
        while (!over) {
          if (!(await writer.write())) continue
          acknowledged += 1
          if (acknowledged % interval === 0) arrived?.()
        }
      }),
    )
    working.catch(() => {
      over = true
    })
    try {
      for (let crash = 0; crash < crashes; crash += 1) {
        const { promise, resolve } = Promise.withResolvers<void>()
        arrived = resolve
        await Promise.race([promise, working])
        await gateway.restart()
      }
    } finally {
      over = true
      await working
    }
    for (const { path, possible } of writers) {
      const { state } = await look(adapters[0] ?? expect.fail(), path)
      expect(possible, path).toContain(state)
    }
    expect(acknowledged).toBeGreaterThanOrEqual(crashes * interval)
    for (const adapter of adapters) await adapter.close()
  })
})

/** The only writer of one file: replaces what it knows to be there, and remembers what may be there now. */
class PersistentWriter {
  readonly path: string
  readonly #adapter: StorageAdapter
  #id: number
  /** Unknown after a failure. */
  #version: Version | undefined = 'absent'
  #possible: (number | string)[] = ['absent']

  constructor(adapter: StorageAdapter, path: string, index: number) {
    this.#adapter = adapter
    this.path = path
    this.#id = index * 1_000_000
  }

  get possible(): readonly (number | string)[] {
    return this.#possible
  }

  /** One write. False when it failed for the crash's sake; any other failure rejects. */
  async write(): Promise<boolean> {
    try {
      if (this.#version === undefined) {
        const { state, version } = await look(this.#adapter, this.path)
        expect(this.#possible, `${this.path} after a crash`).toContain(state)
        this.#possible = [state]
        this.#version = version ?? 'absent'
      }
      this.#id += 1
      this.#possible.push(this.#id)
      const content = makeContent(this.#id, 20_000)
      const { version } = await this.#adapter.write(paths.parseMount(this.path), content, { ifVersion: this.#version })
      this.#possible = [this.#id]
      this.#version = version
      return true
    } catch (error) {
      if (!isWorkspaceError(error) || !['EIO', 'ETIMEDOUT', 'EBACKEND'].includes(error.code)) throw error
      this.#version = undefined
      return false
    }
  }
}

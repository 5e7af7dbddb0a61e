/** @module-tag all */
import { describeWith, deep } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { createS3Adapter } from '../../src/index.ts'
import { at, encode, fill } from '../support.ts'

const MiB = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

interface Memory {
  readonly up: number
  readonly down: number
  readonly same: boolean
}

/** In a process of its own. */
async function streamInChild(options: object): Promise<Memory> {
  const child = fileURLToPath(import.meta.resolve('./stream-child.ts'))
  return new Promise((resolve, reject) => {
    const running = execFile(
      process.execPath,
      ['--expose-gc', '--conditions=@ws/source', child],
      (error, stdout, stderr) => {
        if (error === null) resolve(JSON.parse(stdout) as Memory)
        else reject(new Error(`${error.message}\n${stderr}`))
      },
    )
    running.stdin?.end(JSON.stringify(options))
  })
}

describeWith(s3Needs('ceph'), 'sizes', () => {
  it(`${deep ? '1 GiB goes' : '64 MiB go'} up and down within 64 MiB over idle`, { tags: 'rounds' }, async () => {
    const { endpoint, region, credentials, bucket } = await sharedS3Server('ceph')
    const bytes = deep ? 1024 * MiB : 64 * MiB
    const memory = await streamInChild({ endpoint, region, credentials, bucket, prefix: 'stream', bytes })
    console.log(`${bytes / MiB} MiB: ${Math.round(memory.up / MiB)} MiB up, ${Math.round(memory.down / MiB)} MiB down`)
    expect(memory.same).toBe(true)
    expect(memory.up).toBeLessThan(64 * MiB)
    expect(memory.down).toBeLessThan(64 * MiB)
  })

  // making the objects takes most of a minute
  it('20,000 keys are listed within 10 MiB of heap, searched and deleted', { tags: 'deep' }, async () => {
    const { endpoint, region, credentials, bucket } = await sharedS3Server('ceph')
    await using adapter = await createS3Adapter({ endpoint, region, credentials, bucket, prefix: 'many' })
    const count = 20_000
    await fill(count, (index) =>
      adapter.write(at(`/d${index % 100}/f${index}`), encode(index % 1000 === 0 ? `needle ${index}\n` : 'hay\n')),
    )
    collect()
    const before = process.memoryUsage().heapUsed
    let [files, grown] = [0, 0]
    for await (const { type } of adapter.list(at('/'), { recursive: true })) {
      if (type !== 'file') continue
      files += 1
      if (files % 2_000 !== 0) continue
      collect()
      grown = Math.max(grown, process.memoryUsage().heapUsed - before)
    }
    expect(files).toBe(count)
    console.log(`heap grown by ${Math.round(grown / MiB)} MiB while ${count} keys were listed`)
    expect(grown).toBeLessThan(10 * MiB)
    const hits = await Array.fromAsync(adapter.search?.({ pattern: 'needle', in: at('/') }) ?? [])
    expect(hits.length).toBe(count / 1000)
    for (let index = 0; index < 100; index += 1) await adapter.delete(at(`/d${index}`), { recursive: true })
    expect(await Array.fromAsync(adapter.list(at('/'), { recursive: true }))).toEqual([])
  })
})

/** @module-tag all */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createReplicaAdapter } from '@ws/adapter-replica'
import { createS3Adapter } from '@ws/adapter-s3'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createRunner, type Runner } from '@ws/runner'
import { component, describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

import { openStoreState } from '../../src/state/store.ts'

const replica = ({ store }: { readonly store: StorageAdapter }) => createReplicaAdapter({ store })
const textOf = async (store: StorageAdapter, path: string): Promise<string> =>
  Buffer.from((await store.read(paths.parseMount(path))).bytes).toString()

// it costs a server of S3 and three sandboxes
describeWith(
  [...s3Needs('r2'), component('bubblewrap'), component('git')],
  'a run whose trees and state are in a bucket',
  () => {
    it('[PM3] runs real programs, and another machine goes on with it', async () => {
      const server = await sharedS3Server('r2')
      onTestFinished(() => server.close())
      const at = async (prefix: string): Promise<StorageAdapter> => {
        const client = server.client({ maxAttempts: 1 })
        const store = await createS3Adapter({ client, bucket: server.bucket, prefix, symlinks: 'rclonelink' })
        onTestFinished(() => store.close())
        return store
      }
      const machine = async (): Promise<Runner> => {
        const workspace = await createReplicaAdapter({ store: await at('tree') })
        const [output, state] = [await at('report/output'), await at('report/state')]
        const runner = await createRunner({
          workspace,
          output,
          state,
          replica,
          executors: [createBubblewrapExecutor()],
        })
        onTestFinished(async () => {
          await runner.close()
          await workspace.close()
        })
        return runner
      }
      const tree = await at('tree')
      await tree.write(paths.parseMount('/in.txt'), Buffer.from('hello\n'))
      const step = (id: string, run: string, needs: readonly string[] = []) => ({
        ...{ id, type: 'command', needs, with: { run } },
        inputs: ['in.txt'],
        outputs: [id],
      })
      const plan = {
        version: 1,
        steps: [
          step(
            'one',
            'mkdir {output_path}/one; cd {output_path}/one; git init -q .; cp {workspace_path}/in.txt a.txt; ln -s a.txt b; git add .; git ls-files > files',
          ),
          step('two', 'echo {output_path} > {output_path}/two', ['one']),
        ],
      }
      const abort = new AbortController()
      const first = await machine()
      const running = first.run(plan, {
        signal: abort.signal,
        onEvent: (event) => {
          if (event.type === 'start' && event.step === 'two') abort.abort(new Error('off'))
        },
      })
      await expect(running).rejects.toThrow('off')
      const output = await at('report/output')
      expect(await textOf(output, '/one/files')).toBe('a.txt\nb\n')

      const second = await machine()
      const { state, steps } = await second.run(plan, { resume: true })
      expect({ state, steps }).toMatchObject({
        state: 'done',
        steps: { one: { state: 'done' }, two: { state: 'done' } },
      })
      expect(await output.readSymlink?.(paths.parseMount('/one/b'))).toBe('a.txt')
      expect((await textOf(output, '/two')).trim()).toMatch(/^\//)
    })
  },
)

it('[PM3] what a command has left in staging is there for another machine', async () => {
  const store = createMemoryAdapter()
  const open = () => openStoreState(store, { replica })
  const key = { runId: 'r', stepId: 's', attempt: 1 }
  const one = await open()
  const staging = await one.openStaging(key, { fresh: true })
  const end = await staging.adapter.beginCommand?.()
  await writeFile(join(staging.adapter.hostPath?.(paths.mountRoot) ?? '', 'made.txt'), 'by a program\n')
  await end?.()
  // the machine is gone from here on
  const two = await open()
  const found = await two.openStaging(key, { fresh: false })
  expect(await textOf(found.adapter, '/made.txt')).toBe('by a program\n')
  await found.close()
  await two.removeStaging(key)
  await staging.close()
  expect(await Array.fromAsync(store.list(paths.mountRoot, { recursive: true }), ({ path }) => path)).not.toContain(
    '/staging/r~s~1',
  )
})

/** @module-tag all */
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

const names = ['bin', 'dev', 'etc', 'lib', 'proc', 'tmp', 'usr', 'workspace']

for (const store of ['r2', 'ceph'] as const) {
  describeWith(s3Needs(store), `names of the system at \`/\` on ${store}`, () => {
    it('[PC6] are shown like any other, at both doors, for one request', async () => {
      const server = await sharedS3Server(store)
      onTestFinished(() => server.close())
      const { bucket, endpoint, region, credentials } = server
      const adapter = await createS3Adapter({ bucket, endpoint, region, credentials, prefix: 'names' })
      const executors = [createVirtualExecutor()]
      for (const name of names) await adapter.write(`/${name}/a.js` as never, new TextEncoder().encode('needle'))
      let asked = 0
      const counted = new Proxy(adapter, {
        get(target, key) {
          const value: unknown = Reflect.get(target, key, target)
          if (typeof value !== 'function') return value
          return (...given: unknown[]): unknown => {
            if (key === 'list' || key === 'stat') asked += 1
            return Reflect.apply(value, target, given)
          }
        },
      })
      await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter: counted }], executors })
      expect(asked).toBe(1)
      const found = await Array.fromAsync(workspace.search('needle'))
      expect(found.map(({ path }) => path).sort()).toEqual(names.map((name) => `/${name}/a.js`))
      const { stdout } = await workspace.exec('ls /; cat lib/a.js; echo x > /dev/null; cp lib/a.js dev/b.js; ls dev')
      expect(stdout).toBe(`${names.join('\n')}\nneedlea.js\nb.js\n`)
      await adapter.close()
    })
  })
}

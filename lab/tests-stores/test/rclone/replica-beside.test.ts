/** @module-tag all */
import { createReplicaAdapter } from '@ws/adapter-replica'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, type Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { mountBucket, mountNeeds } from './bucket.ts'

const prefix = 'threads/t1'

async function workspaceOn(adapter: StorageAdapter, executors = [createBubblewrapExecutor()]): Promise<Workspace> {
  const workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter }], executors })
  onTestFinished(async () => {
    await workspace.close()
    await adapter.close()
  })
  return workspace
}

// one store, one mount and some ten sandboxes
describeWith(
  [...mountNeeds, component('bubblewrap')],
  'a replica, an S3 adapter and a mount on one part of a bucket',
  () => {
    it('[RE3, RE6] each sees what the others have written, and of two versions of a file none is lost', async () => {
      const mounted = await mountBucket()
      onTestFinished(() => mounted[Symbol.asyncDispose]())
      const { server, bucket } = mounted
      const makeS3 = () =>
        createS3Adapter({ client: server.client(), bucket: server.bucket, prefix, symlinks: 'rclonelink' })
      const replica = await createReplicaAdapter({ store: makeS3, machine: 'here' })
      const copy = await workspaceOn(replica)
      const plain = await workspaceOn(await makeS3(), [])
      const mount = await workspaceOn(await bucket.adapter(prefix))
      const run = async (workspace: Workspace, command: string): Promise<string> => {
        const { stdout, stderr } = await workspace.exec(command, { login: false })
        expect(stderr).toBe('')
        return stdout
      }

      await run(copy, 'mkdir -p src && echo copy > src/by-copy.txt')
      await plain.write('/workspace/src/by-s3.txt', 's3\n')
      // a mount looks at the bucket again when it is told to
      await bucket.refresh()
      await run(mount, 'echo mount > src/by-mount.txt')
      await mount.flush()
      const all = 'src/by-copy.txt:copy\nsrc/by-mount.txt:mount\nsrc/by-s3.txt:s3\n'
      expect(await run(copy, 'grep -r . src | sort')).toBe(all)
      expect(await run(mount, 'grep -r . src | sort')).toBe(all)
      expect(
        (await plain.readText('/workspace/src/by-mount.txt')) + (await plain.readText('/workspace/src/by-copy.txt')),
      ).toBe('mount\ncopy\n')

      // both change one file before either knows of the other: the copy by a command, which runs while the mount uploads
      const running = copy.spawn('until test -e go; do sleep 0.1; done; echo changed here > src/by-s3.txt', {
        login: false,
      })
      await run(mount, 'echo changed by the mount > src/by-s3.txt')
      await mount.flush()
      await copy.write('/workspace/go', '')
      await (await running).wait()
      expect(await plain.readText('/workspace/src/by-s3.txt')).toBe('changed by the mount\n')
      const [conflict] = replica.status().conflicts
      expect(conflict?.kept).toMatch(/^\/src\/by-s3\.conflict-\w+-here\.txt$/)
      expect(await plain.readText(`/workspace${conflict?.kept ?? ''}`)).toBe('changed here\n')
    }, 120_000)
  },
)

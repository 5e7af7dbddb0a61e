/** @module-tag all */
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'
import { mountBucket, mountNeeds } from './bucket.ts'

const needs = [...mountNeeds, component('bubblewrap'), component('proot'), component('python3')]

describeWith(needs, 'extended attributes on a mount of Ceph', () => {
  // rclone answers EIO to every question for them, at which these give up
  it.each([createBubblewrapExecutor(), createProotExecutor()])(
    '[PC7] $name says that there are none, and what copies files with all they have works',
    async (executor) => {
      await using mounted = await mountBucket()
      await using adapter = await mounted.bucket.adapter('threads/t1')
      await using workspace = await createWorkspace({ mounts: [{ at: '/workspace', adapter }], executors: [executor] })
      await workspace.write('/workspace/d/f', 'content', { parents: true })
      const python = `
import errno, os, shutil
shutil.copy2('d/f', 'copy2')
shutil.copytree('d', 'tree')
for ask in (lambda: os.listxattr('d/f'), lambda: os.getxattr('d/f', 'user.a'), lambda: os.setxattr('d/f', 'user.a', b'')):
    try:
        print(ask())
    except OSError as error:
        print(errno.errorcode[error.errno])
`
      await workspace.write('/workspace/copy.py', python)
      const command = 'set -e; ls -l d; cp -a d archive; python3 copy.py; cat archive/f copy2 tree/f'
      const { stdout, stderr } = await workspace.exec(command, { timeout: 60_000 })
      expect(stderr).toBe('')
      // Python takes ENOTSUP for an empty list when it copies, and reports it to a direct caller
      expect(stdout.split('\n').slice(2).join('\n')).toBe('ENOTSUP\nENOTSUP\nENOTSUP\ncontentcontentcontent')
    },
  )
})

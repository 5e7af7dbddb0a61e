import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { type RcloneAdapter, createRcloneAdapter, orEmpty } from '@ws/adapter-rclone'
import { type Workspace, createWorkspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { component, describeWith } from '@ws/test-fixtures'
import { readFile, readdir, readlink } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { type MountedBucket, mountBucket, mountNeeds } from './bucket.ts'

const programs = ['rclone', 'fuse', 'bubblewrap', 'proot', 'python3'] as const
const needs = [...mountNeeds, ...programs.map(component)]

/** An S3 client of its own: it knows nothing of mounts. */
function clientOf({ server }: MountedBucket) {
  const client = server.client()
  const Bucket = server.bucket
  return {
    async keys(): Promise<string[]> {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }))
      return Contents.map(({ Key = '' }) => Key).sort()
    },
    async get(key: string): Promise<string> {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }))
      return (await Body?.transformToString()) ?? ''
    },
    put: async (key: string, content: string): Promise<void> => {
      await client.send(new PutObjectCommand({ Bucket, Key: key, Body: content }))
    },
  }
}

/** A thread of the persistence document: its own prefix at the root, the skills read-only. */
async function openThread(mounted: MountedBucket, thread: string, root: string, executor: Executor) {
  const { bucket } = mounted
  const adapter = await bucket.adapter(`threads/${thread}`)
  const skills = await bucket.adapter('skills/system')
  const workspace = await createWorkspace({
    mounts: [
      { at: root, adapter },
      { at: `${root === '/' ? '' : root}/.solven/skills/system`, adapter: skills, access: 'read-only' },
    ],
    executors: [executor],
  })
  return { workspace, adapter, skills }
}

const run = async (workspace: Workspace, command: string, acknowledge: readonly string[] = []) => {
  const result = await workspace.exec(command, { login: false, shell: 'bash', timeout: 60_000, acknowledge })
  expect(result.stderr).toBe('')
  return result
}

/** Both executors and both roots; two of the four in the deep tier. */
const doors = [
  // A directory on a mount cannot be the root of commands itself.
  {
    name: 'bubblewrap with proot at /',
    root: '/',
    kernel: true,
    create: () => createBubblewrapExecutor({ root: 'translated' }),
  },
  { name: 'bubblewrap at /workspace', root: '/workspace', kernel: true, create: () => createBubblewrapExecutor() },
  { name: 'proot at /', root: '/', kernel: false, create: () => createProotExecutor() },
  { name: 'proot at /workspace', root: '/workspace', kernel: false, create: () => createProotExecutor() },
]

for (const door of doors) {
  const isShort = door.kernel && door.root === '/'
  const server = isShort ? 'r2' : 'ceph'
  describeWith(
    isShort ? programs.map(component) : needs,
    `the persistence flow on ${server}: ${door.name}`,
    { tags: isShort ? [] : ['deep'] },
    () => {
      const at = (path: string): string => (door.root === '/' ? `/${path}` : `/workspace/${path}`)

      it('[RP1, RP2, RP3, RP5, RP10, PC14] write by the API, run python, touch by command, list skills by both, read it all from the bucket', async () => {
        await using mounted = await mountBucket({}, server)
        const store = clientOf(mounted)
        await store.put('skills/system/search.md', 'how to search')
        await mounted.bucket.refresh()
        const { workspace, adapter, skills } = await openThread(mounted, 'abc123', door.root, door.create())
        await using _workspace = workspace
        const acknowledge = door.kernel ? [] : await unheldRules(workspace)
        await workspace.write(
          at('analysis.py'),
          `open(${JSON.stringify(at('result.txt'))}, 'w').write(str(6 * 7))\nprint('done')\n`,
        )
        expect((await run(workspace, `python3 ${at('analysis.py')}`, acknowledge)).stdout).toBe('done\n')
        expect(await workspace.readText(at('result.txt'))).toBe('42')
        await run(workspace, `touch ${at('output.txt')}`, acknowledge)
        const listed = await Array.fromAsync(workspace.list(at('.solven/skills/system')))
        expect(listed.map(({ path }) => path)).toEqual([at('.solven/skills/system/search.md')])
        expect((await run(workspace, `ls ${at('.solven/skills/system')}`, acknowledge)).stdout).toBe('search.md\n')
        await workspace.flush()
        expect(await store.keys()).toEqual([
          'skills/system/search.md',
          'threads/abc123/analysis.py',
          'threads/abc123/output.txt',
          'threads/abc123/result.txt',
        ])
        expect(await store.get('threads/abc123/result.txt')).toBe('42')
        await workspace.exec(`echo more > ${at('more.txt')}`, {
          durable: true,
          login: false,
          shell: 'bash',
          acknowledge,
        })
        expect(await store.get('threads/abc123/more.txt')).toBe('more\n')
        await workspace.write(at('sure.txt'), 'sure', { durable: true })
        expect(await store.get('threads/abc123/sure.txt')).toBe('sure')
        await workspace.close()
        await adapter.close()
        await skills.close()
      }, 120_000)

      it('[RP6] nothing of t12, of other threads, of other skills, the bucket, the control port or the credentials', {
        tags: 'all',
        timeout: 120_000,
      }, async () => {
        await using mounted = await mountBucket({}, server)
        const store = clientOf(mounted)
        const secrets = ['of t12', 'of t2', 'private skill', 'at the top']
        await store.put('threads/t12/secret.txt', 'of t12')
        await store.put('threads/t2/secret.txt', 'of t2')
        await store.put('skills/u2/private.md', 'private skill')
        await store.put('top.txt', 'at the top')
        await mounted.bucket.refresh()
        const { workspace } = await openThread(mounted, 't1', door.root, door.create())
        await using _workspace = workspace
        const acknowledge = door.kernel ? [] : await unheldRules(workspace)
        await workspace.write(at('mine.txt'), 'mine')
        const { credentials, endpoint, bucket } = mounted.server
        const told = [...secrets, credentials.secretAccessKey, credentials.accessKeyId, endpoint, bucket]
        for (const path of [
          '/../t12/secret.txt',
          '/../../top.txt',
          '/threads/t12/secret.txt',
          '/mnt/r2',
          mounted.directory,
        ]) {
          const answer = await workspace.readText(path).catch((error: unknown) => String(error))
          for (const secret of told) expect(answer).not.toContain(secret)
        }
        const looks = [
          'find / -xdev -maxdepth 6 2>/dev/null',
          `cat ${at('../t12/secret.txt')} ${at('../../top.txt')} /threads/*/secret.txt /workspace/../t12/secret.txt 2>&1`,
          `ls -laR ${mounted.directory} 2>&1; cat ${mounted.directory}/*/run/* 2>&1`,
          'cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\\0" "\\n"',
          'for d in /proc/[0-9]*; do cat $d/root/threads/t12/secret.txt $d/cwd/../t12/secret.txt; done 2>&1',
          'cat /proc/self/mountinfo',
        ]
        for (const look of looks) {
          const { stdout, stderr } = await workspace.exec(look, {
            login: false,
            shell: 'bash',
            timeout: 60_000,
            acknowledge,
          })
          for (const secret of told) expect(stdout + stderr, look).not.toContain(secret)
        }
        // the port is found from outside, and tried from inside
        const ports = await portsOfRclone(mounted)
        expect(ports.length).toBeGreaterThan(0)
        for (const port of ports) {
          const { stdout } = await workspace.exec(
            `python3 - <<'E'\nimport urllib.request\nfor c in ('config/dump', 'core/version', 'vfs/stats'):\n  try: print(urllib.request.urlopen(urllib.request.Request('http://127.0.0.1:${port}/' + c, data=b'{}'), timeout=5).read())\n  except Exception as e: print('no', e)\nE`,
            { login: false, shell: 'bash', timeout: 60_000, acknowledge },
          )
          expect(stdout.split('\n').filter((line) => line !== '' && !line.startsWith('no '))).toEqual([])
        }
      })
    },
  )
}

describeWith(needs, 'mounts that a workspace can do without', { tags: 'all' }, () => {
  it('[RP12] a failed skills mount is an empty read-only directory, and says so; a failed workspace mount is fatal', async () => {
    await using mounted = await mountBucket()
    const told: string[] = []
    const broken = (): Promise<RcloneAdapter> =>
      createRcloneAdapter({ ...mounted.options, bucket: 'no-such-bucket', prefix: 'skills/system', readOnly: true })
    const { owner } = mounted.options
    const skills = await orEmpty(broken, { owner, onDegraded: ({ code, message }) => told.push(`${code} ${message}`) })
    expect(told).toEqual([expect.stringContaining('the bucket does not exist')])
    const [door] = doors
    await using workspace = await createWorkspace({
      mounts: [
        { at: '/', adapter: () => mounted.bucket.adapter('threads/t1') },
        { at: '/.solven/skills/system', adapter: skills, access: 'read-only' },
      ],
      executors: door === undefined ? [] : [door.create()],
    })
    expect(workspace.mounts.map(({ adapter }) => adapter)).toEqual(['rclone', 'unavailable(EBACKEND)'])
    expect(await Array.fromAsync(workspace.list('/.solven/skills/system'))).toEqual([])
    await expect(workspace.write('/.solven/skills/system/x', 'x')).rejects.toMatchObject({ code: 'EROFS' })
    const { exitCode } = await workspace.exec('touch /.solven/skills/system/x', { login: false, shell: 'bash' })
    expect(exitCode).not.toBe(0)
    await expect(createWorkspace({ mounts: [{ at: '/', adapter: broken }] })).rejects.toMatchObject({
      code: 'EBACKEND',
    })
  }, 120_000)
})

/** Names of the rules that this executor cannot hold, found by asking. */
async function unheldRules(workspace: Workspace): Promise<readonly string[]> {
  const { unenforceable = [] } = await workspace.explain({ operation: 'exec', path: workspace.root })
  return unenforceable.map(({ rule }) => rule)
}

/** TCP ports of this machine that the mount's rclone listens at. */
async function portsOfRclone({ directory }: MountedBucket): Promise<number[]> {
  const inodes = new Set<string>()
  let table = ''
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/u.test(name)) continue
    const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (!command.startsWith('/usr/bin/rclone') || !command.includes(directory)) continue
    table = await readFile(`/proc/${name}/net/tcp`, 'utf8')
    for (const fd of await readdir(`/proc/${name}/fd`)) {
      const [, inode] = /^socket:\[(\d+)\]$/u.exec(await readlink(`/proc/${name}/fd/${fd}`).catch(() => '')) ?? []
      if (inode !== undefined) inodes.add(inode)
    }
  }
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/u))
    .filter((fields) => fields[3] === '0A' && inodes.has(fields[9] ?? ''))
    .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16))
}

import { readdir, readFile, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'

import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import type { S3Server } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { beforeAll, describe, expect, it } from 'vitest'

import { walkMount, type MountDemoOptions } from '../../src/demo/mount.ts'
import { createStyle } from '../../src/terminal/style.ts'

let server: S3Server
beforeAll(async () => {
  server = await sharedS3Server('r2')
})

/** The demo's lines, and whether both readers agree. */
async function run(options: Partial<MountDemoOptions>) {
  const lines: string[] = []
  const agree = await walkMount({
    connection: server,
    executor: createVirtualExecutor(),
    style: createStyle(process.stdout, { NO_COLOR: '1' }),
    say: (line) => lines.push(line),
    signal: new AbortController().signal,
    ...options,
  })
  return { agree, text: lines.join('\n') }
}

/** Scratch directories and mounts of the demo that are still there. */
async function remains(): Promise<string[]> {
  const directory = await realpath(tmpdir())
  const names = (await readdir(directory)).filter((name) => name.startsWith('ws-demo-'))
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')
  return [...names, ...mounts.filter((line) => line.includes(`${directory}/ws-demo-`))]
}

describeWith((['rclone', 'fuse', 'bubblewrap', 'git'] as const).map(component), "the demo's mount", () => {
  it('runs real commands in the bucket, and an S3 client reads the same bytes; no mount is left', async () => {
    const { agree, text } = await run({ executor: createBubblewrapExecutor() })
    expect(text).toMatch(/sort \/words\.txt \| tee \/sorted\.txt +apple fig pear\n/u)
    expect(text).toMatch(/git status --short +A sorted\.txt A words\.txt\n/u)
    expect(text).toMatch(/mounted\/sorted\.txt, by the S3 API +the same 15 bytes: apple fig pear$/u)
    expect(agree).toBe(true)
    expect(await remains()).toEqual([])
  })

  it('unmounts when it is interrupted', async () => {
    const controller = new AbortController()
    const say = (line: string) => {
      if (line.includes('sort')) controller.abort(new Error('Ctrl-C'))
    }
    await expect(run({ say, signal: controller.signal })).rejects.toThrow('Ctrl-C')
    expect(await remains()).toEqual([])
  })
})

describe('the demo without rclone', () => {
  it('says in one line what is missing and how to get it, and goes on', async () => {
    const { agree, text } = await run({ program: '/nonexistent/rclone' })
    expect(text.trim()).toMatch(
      /^No mount here: rclone cannot be run; install rclone and fuse3 \(`apt-get install rclone fuse3`\)$/u,
    )
    expect(agree).toBe(true)
    expect(await remains()).toEqual([])
  })
})

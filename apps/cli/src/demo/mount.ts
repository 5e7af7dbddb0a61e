import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import { parseMountPath, type StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'
import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import type { S3Connection } from '@ws/test-fixtures/s3'

import type { Style } from '../terminal/style.ts'
import { files, renderLine, shell, showSteps, type Step } from './steps.ts'

export interface MountDemoOptions {
  readonly connection: S3Connection
  readonly executor: Executor
  readonly style: Style
  readonly say: (line: string) => void
  readonly signal: AbortSignal
  /** rclone's path. Default: where the system has it. */
  readonly program?: string | undefined
}

const prefix = 'mounted'
const sorted = '/sorted.txt'

const steps: readonly Step[] = [
  files('write  /words.txt', async (workspace) => {
    const { size } = await workspace.write('/words.txt', 'pear\nfig\napple\n')
    return `${size} bytes`
  }),
  shell(`sort /words.txt | tee ${sorted}`),
]

/** Steps for real programs only. */
const programSteps: readonly Step[] = [shell('git init -q; git add -A; git status --short')]

const flush = files('flush', async (workspace) => {
  await workspace.flush()
  return 'all of it is in the bucket'
})

/**
 * Mounts a part of the bucket with rclone, works in it through both doors, and reads with an S3 client what came of it.
 * Where it cannot be mounted, one line says why. The mount is gone afterwards in every case.
 *
 * @returns whether the client read the same bytes; true where nothing could be mounted
 */
export async function walkMount(options: MountDemoOptions): Promise<boolean> {
  const { connection, executor, style, say, signal } = options
  await using scratch = await createScratchDirectory({ prefix: 'ws-demo-' })
  const opened = await openMount(options, scratch.path)
  if (typeof opened === 'string') {
    say(`\n${style.note('No mount here')}: ${opened}`)
    return true
  }
  await using adapter = opened
  say(`\n${style.strong('The same bucket as a mount')} of rclone, with ${executor.name}; an S3 client looks on\n`)
  await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], executors: [executor] })
  const real = executor.kind === 'process' ? programSteps : []
  await showSteps(workspace, [...steps, ...real, flush], style, say)
  signal.throwIfAborted()

  const ours = await textOf(adapter)
  const { endpoint, region, credentials, bucket } = connection
  await using client = await createS3Adapter({ endpoint, region, credentials, bucket, prefix, forcePathStyle: true })
  const theirs = await textOf(client)
  const agree = ours !== undefined && ours === theirs
  const outcome = agree
    ? `the same ${Buffer.byteLength(ours)} bytes: ${ours}`
    : `${show(theirs)}, but the mount has ${show(ours)}`
  const line = renderLine(style.good('bucket'), `read   ${prefix}${sorted}, by the S3 API`, outcome, style)
  say(agree ? line : style.bad(line))
  return agree
}

/** The mount, or why there is none. */
async function openMount({ connection, program, signal }: MountDemoOptions, directory: string) {
  const { endpoint, region, credentials, bucket } = connection
  try {
    return await createRcloneAdapter({
      endpoint,
      region,
      credentials,
      bucket,
      prefix,
      owner: ordinaryOwner(),
      directory,
      program,
      writeBackDelay: 100,
      // after Ctrl-C the server is gone first
      flushTimeout: 10_000,
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!isWorkspaceError(error)) throw error
    // a viewer has no use for options
    const remedy = error.remedy?.replace(/, or pass .*$/u, '')
    return [error.reason, remedy].filter(Boolean).join('; ')
  }
}

/** The text that an adapter has there; `undefined` where it has none. */
async function textOf(adapter: StorageAdapter): Promise<string | undefined> {
  try {
    return Buffer.from((await adapter.read(parseMountPath(sorted))).bytes).toString()
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

const show = (text: string | undefined): string => (text === undefined ? 'nothing' : JSON.stringify(text))

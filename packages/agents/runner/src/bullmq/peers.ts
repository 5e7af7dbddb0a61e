import { WorkspaceError } from '@ws/core'

/** An optional peer: most runs execute their steps in their own process. */
export const bullmq = await load()

async function load(): Promise<typeof import('bullmq')> {
  try {
    // BullMQ loads its client at the first connection, where a missing one would block each step forever
    await import('ioredis')
    return await import('bullmq')
  } catch (native) {
    throw new WorkspaceError({
      code: 'ENOTSUP',
      operation: 'import',
      reason: '`@ws/runner/bullmq` needs the packages `bullmq` and `ioredis`, and cannot load them',
      remedy: 'install them beside it: `npm install bullmq ioredis`',
      native,
    })
  }
}

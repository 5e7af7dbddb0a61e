import { WorkspaceError } from '@ws/core'

/** BullMQ is an optional peer dependency: most runs execute their steps in their own process. */
export const bullmq = await load()

async function load(): Promise<typeof import('bullmq')> {
  try {
    // BullMQ loads `ioredis` only at its first connection; without `ioredis`, each step would wait forever
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

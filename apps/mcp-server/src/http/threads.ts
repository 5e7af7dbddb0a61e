import type { Threads } from '@ws/threads'
import { createHash } from 'node:crypto'

import type { HttpOptions, Subject } from './types.ts'

export function openThreads(threads: Threads): HttpOptions['open'] {
  return async (subject: Subject | undefined) => {
    const id = subject === undefined ? 'local' : createHash('sha256').update(subject.id).digest('hex').slice(0, 40)
    const thread = await threads.open({ threadId: `mcp-${id}`, userId: `mcp-${id}` })
    return { workspace: thread.workspace, listSkills: () => thread.listSkills(), close: () => thread.close() }
  }
}

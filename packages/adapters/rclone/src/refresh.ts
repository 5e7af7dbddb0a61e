import { setTimeout as delay } from 'node:timers/promises'

import type { Control } from './control/client.ts'

export interface RefreshOptions {
  /** The part of the mount: `""` or `threads/t1/`. */
  readonly below: string
  readonly attributeCache: number
  readonly signal: AbortSignal | undefined
}

/** Makes rclone forget its listings, and waits until the kernel's cached attributes have expired. */
export async function refreshMount(control: Control, { below, attributeCache, signal }: RefreshOptions): Promise<void> {
  await control.call('vfs/forget', wayTo(below.replace(/\/$/, '')), { signal })
  await delay(attributeCache, undefined, { signal }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw error
  })
}

/** Parameters to forget a tree and the listing of each directory above it, which may lack a new directory. */
function wayTo(directory: string): Record<string, string> {
  if (directory === '') return {}
  const way: Record<string, string> = { dir: directory }
  const names = directory.split('/')
  for (let depth = 1; depth < names.length; depth++) way[`file${depth}`] = names.slice(0, depth).join('/')
  return way
}

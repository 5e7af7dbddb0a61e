import { setTimeout as delay } from 'node:timers/promises'

import type { Control } from './control/client.ts'

export interface RefreshOptions {
  /** The part of the mount, `""` or `threads/t1/`. */
  readonly below: string
  readonly attributeCacheTime: number
  readonly signal: AbortSignal | undefined
}

/**
 * Has rclone forget its listings, then waits until the kernel has forgotten what it was told before: nobody can call that
 * back, but it does not last.
 */
export async function refreshMount(
  control: Control,
  { below, attributeCacheTime, signal }: RefreshOptions,
): Promise<void> {
  const dir = below.replace(/\/$/, '')
  await control.call('vfs/forget', dir === '' ? {} : { dir }, { signal })
  await delay(attributeCacheTime, undefined, { signal }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw error
  })
}

import type { BindPlan } from '@ws/core/executor'

import { isOnSlowMount } from './bind-source.ts'

/**
 * Whether commands can ask for extended attributes of files; else that is ENOTSUP. Not where something of the view lies in
 * FUSE or on a network: such file systems answer with errors of their own (rclone's mounts: EIO, at which `cp -a` and
 * Python's `shutil.copy2` give up), and each question is a round trip.
 */
export function offersExtendedAttributes({ binds }: Pick<BindPlan, 'binds'>): boolean {
  return !isOnSlowMount(binds.map(({ source }) => source))
}

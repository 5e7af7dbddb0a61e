import { WorkspaceError } from '@ws/core'
import { commandLimits } from '@ws/core/executor'
import { option } from '@ws/core/options'
import type { OptionShape, OptionShapes } from '@ws/core/options'

import type { LimitOptions } from '../limits/options.ts'
import type { Tool } from '../view/tools.ts'

const hostPath = option.hidden(
  option.of(
    'an absolute path of this machine',
    (value) => typeof value === 'string' && value.startsWith('/') && !value.includes('\0'),
  ),
)

export const limitOptionShapes: OptionShapes<LimitOptions> = {
  limits: option.options(commandLimits.shapes),
  cgroup: hostPath,
}

export const environmentNamesShape: OptionShape = option.list(
  option.of(
    'the name of a variable, or a prefix that ends in `*`',
    (name) => typeof name === 'string' && /^[A-Za-z_]\w*\*?$/.test(name),
  ),
  'a list of names such as `HTTPS_PROXY` and `LC_*`',
)

export const toolsShape: OptionShape = option.list(
  option.options<Tool>({ host: option.required(hostPath), at: option.string }),
  'a list of `{ host, at }`',
)

/** Refuses a host list in `network`, for executors that use the machine's network. @throws WorkspaceError `EUNENFORCEABLE` */
export function refuseNetworkList(options: unknown, operation: string): void {
  if (typeof options !== 'object' || options === null || !('network' in options)) return
  if (typeof options.network !== 'object' || options.network === null) return
  throw new WorkspaceError({
    code: 'EUNENFORCEABLE',
    operation,
    reason: 'a list of hosts (`network`) takes a network namespace, which this executor does not make',
    remedy: 'use `createBubblewrapExecutor`, which holds it, or leave `network` out',
  })
}

import { KeptContents } from '@ws/process'
import { systemTree } from '@ws/sandbox'

import { layOut } from '../layout.ts'
import { nameResolution, probedNetwork } from '../network/named-network.ts'
import { type Attempt, commandOf, emptyPlan, noWarden } from '../probe-command.ts'
import { openSources } from '../sources.ts'
import { WarmPool } from './pool.ts'
import { startWarm } from './start.ts'

/** Runs `true` in a sandbox that was ready, and says in words whether commands can be started so. */
export async function probeWarm(attempt: Attempt): Promise<string> {
  const { target, options, cgroup } = attempt
  if (cgroup !== undefined) return 'not used: each command has a control group of its own'
  using contents = new KeptContents()
  using sources = await openSources([])
  const system = systemTree({ root: target.root, owner: target.owner, ...nameResolution(options.network) })
  const run = { layout: layOut(emptyPlan, 'below'), sources, system, argv: ['/bin/true'] }
  await using network = probedNetwork(options.network)
  const pool = new WarmPool({ owner: target.owner, warden: () => noWarden })
  try {
    const sandbox = await startWarm(pool, {
      command: commandOf(attempt, run, contents),
      owner: target.owner,
      warden: noWarden,
      network,
      keeper: nothingProtected,
      stdin: 'none',
    })
    if (sandbox === undefined) return `not used: ${pool.problem}`
    await sandbox.process.wait()
    return sandbox.exitCode() === 0 ? 'used for commands without a terminal' : 'not used: a command could not be run'
  } finally {
    await pool.close()
  }
}

function nothingProtected(): never {
  throw new Error('a probe protects nothing')
}

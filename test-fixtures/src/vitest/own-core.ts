import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

// A worker and the programs that it starts take turns: on one core they wake each other at once. Across the cores of a
// virtual machine, one wake-up takes 80 to 130 µs instead of 7, and commands in sandboxes twice as long.
const cores = availableParallelism()
const worker = Number(process.env['VITEST_POOL_ID'])
if (process.platform === 'linux' && cores > 1 && worker > 0) {
  // without it the worker runs where it likes
  spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(worker % cores), String(process.pid)])
}

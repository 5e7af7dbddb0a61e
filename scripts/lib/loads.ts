import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { component } from '@ws/test-fixtures'

import { capture } from './run.ts'

/** Limits of files and kilobytes of JavaScript that an import of each door loads, slightly above the present values. */
const budgets: Readonly<Record<string, readonly [files: number, kilobytes: number]>> = {
  '@ws/adapter-local': [21, 1150],
  '@ws/adapter-local/internal': [18, 720],
  '@ws/adapter-memory': [18, 770],
  '@ws/adapter-memory/volume': [18, 780],
  '@ws/adapter-rclone': [24, 1290],
  '@ws/adapter-replica': [28, 1290],
  '@ws/adapter-s3': [175, 3440],
  '@ws/cli': [38, 820],
  '@ws/command-parser': [29, 740],
  '@ws/conformance': [16, 780],
  '@ws/conformance/vitest': [44, 1790],
  '@ws/core': [10, 430],
  '@ws/core/adapter': [8, 110],
  '@ws/core/executor': [7, 360],
  '@ws/core/inner': [3, 3],
  '@ws/core/node-fs': [5, 84],
  '@ws/core/options': [6, 60],
  '@ws/documents': [25, 570],
  '@ws/download': [19, 510],
  '@ws/executor-bubblewrap': [20, 940],
  '@ws/executor-machine': [31, 880],
  '@ws/executor-machine/container': [17, 790],
  '@ws/executor-machine/ssh': [12, 430],
  '@ws/executor-proot': [15, 750],
  '@ws/executor-sandbox-runtime': [17, 740],
  '@ws/executor-sanitize': [34, 1100],
  '@ws/executor-virtual': [27, 820],
  '@ws/executor-virtual/just-bash': [38, 1490],
  '@ws/mcp-server': [189, 3410],
  '@ws/network': [9, 104],
  '@ws/network/gate': [14, 450],
  '@ws/observability': [12, 430],
  '@ws/runner': [293, 3410],
  '@ws/runner/run-plan': [4, 6],
  '@ws/sandbox': [14, 720],
  '@ws/shell-tools': [4, 240],
  '@ws/shell-tools/files': [4, 7],
  '@ws/snapshots': [22, 780],
  '@ws/testing': [20, 810],
  '@ws/testing/vitest': [49, 1880],
  '@ws/text-search': [15, 750],
  '@ws/threads': [220, 2240],
  '@ws/tools': [166, 2270],
  '@ws/tools/face-names': [3, 3],
  '@ws/tools/bridge': [14, 460],
  '@ws/tree': [20, 740],
  '@ws/tree/disk': [11, 400],
}

/** Imports a door with its name as argument, and prints what was loaded. A door that needs an optional package prints nothing. */
const count = `import { registerHooks } from 'node:module'
  let files = 0
  let bytes = 0
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (url.startsWith('file:')) files += 1
      bytes += url.startsWith('file:') ? (loaded.source?.length ?? 0) : 0
      return loaded
    },
  })
  const isMissing = ({ code }) => code === 'ERR_MODULE_NOT_FOUND' || code === 'ENOTSUP'
  const opened = await import(process.argv[1]).catch((error) => !isMissing(error) && Promise.reject(error))
  if (opened) console.log(files, Math.ceil(bytes / 1000))`

/** Doors whose import loads more than their budgets, doors without one, and budgets without a door. */
export function checkLoads(project: string): string[] {
  const folder = join(project, 'node_modules/@ws')
  const doors = readdirSync(folder).flatMap((name) => {
    const { exports } = JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')) as { exports: object }
    return Object.keys(exports).flatMap((door) => (door.endsWith('.json') ? [] : [`@ws/${name}${door.slice(1)}`]))
  })
  const stale = Object.keys(budgets).filter((door) => !doors.includes(door))
  const grown = doors.flatMap((door) => {
    const printed = capture(process.execPath, ['--input-type=module', '--eval', count, door], { cwd: project })
    if (printed === '') return []
    const [files = 0, kilobytes = 0] = printed.split(' ').map(Number)
    const [most, size] = budgets[door] ?? [-1, -1]
    if (files <= most && kilobytes <= size) return []
    return [
      `${door}: an import loads ${files} files, ${kilobytes} kB; its budget in scripts/lib/loads.ts is ${most} and ${size} kB`,
    ]
  })
  return [...grown, ...stale.map((door) => `${door}: has a budget in scripts/lib/loads.ts, and is no door`)]
}

/** Runs the threads and perl scripts of the packed packages, see `packed-program.mjs`. */
export function runParts(project: string): string[] {
  const program = join(project, 'packed-program.mjs')
  copyFileSync(join(import.meta.dirname, 'packed-program.mjs'), program)
  const words = component('bubblewrap').available ? ['bubblewrap'] : []
  try {
    capture(process.execPath, [program, ...words], { cwd: project, env: { PATH: process.env['PATH'] } })
    return []
  } catch (error) {
    return [`a program over the packed packages: ${String(error)}`]
  }
}

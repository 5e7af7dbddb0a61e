import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import type { CgroupKernel } from '../../../src/limits/cgroup/kernel.ts'

const pageBytes = 4096

/**
 * A directory laid out like a cgroup v2 group, and who does with it what the kernel does: for controllers, which the
 * kernel of the machine at hand may not have to give.
 */
export class SimulatedCgroup implements CgroupKernel {
  readonly path: string
  /** Simulates processes in the group itself. */
  populated = false
  /** Simulates a kernel that takes a value and keeps another. */
  ignoresValues = false

  constructor(path: string, { available = 'cpuset cpu io memory pids', enabled = '' } = {}) {
    this.path = path
    mkdirSync(path, { recursive: true })
    const files = { 'cgroup.controllers': available, 'cgroup.subtree_control': enabled, 'memory.max': 'max' }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), `${text}\n`)
  }

  read(group: string, file: string): string {
    return readFileSync(join(this.path, group, file), 'latin1').trim()
  }

  isCgroup(path: string): boolean {
    return path.startsWith(this.path)
  }

  make(path: string): void {
    mkdirSync(path)
    const enabled = this.read('', 'cgroup.subtree_control')
    const files = [
      ...['cgroup.procs', 'cgroup.kill'],
      ...(enabled.includes('memory') ? ['memory.max', 'memory.swap.max'] : []),
      ...(enabled.includes('pids') ? ['pids.max'] : []),
    ]
    for (const file of files) writeFileSync(join(path, file), file.endsWith('.max') ? 'max\n' : '')
  }

  remove(path: string): void {
    rmSync(path, { recursive: true })
  }

  write(path: string, text: string): void {
    if (!existsSync(path)) throw failure('ENOENT')
    if (path.endsWith('cgroup.subtree_control')) {
      if (this.populated) throw failure('EBUSY')
      const added = text.split(' ').map((word) => word.replace('+', ''))
      writeFileSync(path, `${[...readFileSync(path, 'latin1').trim().split(' '), ...added].join(' ').trim()}\n`)
    } else if (this.ignoresValues) writeFileSync(path, 'max\n')
    else if (path.endsWith('memory.max')) writeFileSync(path, `${Number(text) - (Number(text) % pageBytes)}\n`)
    else writeFileSync(path, `${text}\n`)
  }
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'

import { UsageError } from '../errors.ts'

/** The text of a plan in a file of this machine. @throws UsageError */
export function readPlan(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new UsageError('the plan cannot be read; give a YAML or JSON file of this machine')
  }
}

/** Makes the output's directory when it is missing; as root it belongs to the owner of the workspace. @throws UsageError */
export function prepareOutput(output: string, workspace: string): void {
  try {
    const made = mkdirSync(output, { recursive: true })
    if (made === undefined || process.getuid?.() !== 0) return
    const { uid, gid } = statSync(workspace)
    chownSync(output, uid, gid)
  } catch {
    throw new UsageError('--output is not a directory and cannot be made; give one that can be written')
  }
}

/** @throws UsageError */
export function writeReport(file: string, html: string): void {
  try {
    writeFileSync(file, html)
  } catch {
    throw new UsageError('--report cannot be written; give a file in a directory that is there')
  }
}

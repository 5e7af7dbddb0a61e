import { isWorkspaceError, type AccessEvent } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createTwoFilesPatch } from 'diff'

import type { DecisionNote, LandedEntry, StepReport } from '../state/records.ts'
import { mountPath, type Hasher } from './tree.ts'

const maxLog = 1024 * 1024
const maxDecisions = 200
const maxDiffs = 20
const maxDiffBytes = 64 * 1024

export class Notes {
  readonly startedAt = Date.now()
  readonly #decisions = new Map<string, DecisionNote>()
  readonly #diffs: { path: string; diff: string }[] = []
  #log = ''
  #isCut = false

  log(text: string): void {
    const room = maxLog - this.#log.length
    this.#log += text.slice(0, Math.max(0, room)).toWellFormed()
    if (text.length <= room || this.#isCut) return
    this.#isCut = true
    this.#log += '\n[the log is longer, and was cut here]\n'
  }

  decide({ operation, path, resolvedPath, outcome, rule, command }: AccessEvent): void {
    const note: DecisionNote = {
      operation,
      path: command ?? resolvedPath ?? path,
      outcome: outcome === 'denied' ? 'denied' : 'allowed',
      times: 1,
      ...(rule === undefined ? {} : { rule }),
    }
    const key = `${note.operation}\n${note.path}\n${note.outcome}\n${rule ?? ''}`
    const known = this.#decisions.get(key)
    if (known !== undefined) this.#decisions.set(key, { ...known, times: known.times + 1 })
    else if (this.#decisions.size < maxDecisions) this.#decisions.set(key, note)
  }

  async compare(
    staging: StorageAdapter,
    output: StorageAdapter,
    entries: readonly LandedEntry[],
    hasher: Hasher,
  ): Promise<void> {
    for (const entry of entries) {
      if (this.#diffs.length >= maxDiffs) return
      if (entry.type !== 'file' || entry.size > maxDiffBytes) continue
      const at = mountPath(entry.path)
      let old: Awaited<ReturnType<Hasher['hash']>> | undefined
      try {
        old = await hasher.hash(output, at)
      } catch (error) {
        if (!isWorkspaceError(error, 'ENOENT') && !isWorkspaceError(error, 'ENOTDIR')) continue // no diff instead of a wrong one
      }
      if (old?.hash === entry.hash || (old?.size ?? 0) > maxDiffBytes) continue
      const before = old === undefined ? '' : decodeText((await output.read(at)).bytes)
      const after = decodeText((await staging.read(at)).bytes)
      if (before === undefined || after === undefined) continue
      const diff = createTwoFilesPatch(old === undefined ? '/dev/null' : entry.path, entry.path, before, after)
      this.#diffs.push({ path: entry.path, diff })
    }
  }

  report(): StepReport {
    const decisions = [...this.#decisions.values()]
    return { startedAt: this.startedAt, endedAt: Date.now(), log: this.#log, decisions, diffs: [...this.#diffs] }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(bytes)
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

import { createHash, randomUUID } from 'node:crypto'

import { isWorkspaceError, type Workspace } from '@ws/core'

import { asBreach } from '../errors.ts'
import { canonicalJson, sha256 } from '../json.ts'
import { workspaceAt } from '../paths.ts'
import type { StepRequest } from '../run/types.ts'
import type { StepType } from '../types/types.ts'

/** Reads inputs under the step's rules. @throws WorkspaceError `ENOENT` for a missing input, `ESECURITY` for an input that leads out */
export async function fingerprintOf(
  { step, templates }: StepRequest,
  { version = '1' }: StepType,
  open: () => Promise<Workspace>,
  known: Map<string, string>,
  signal: AbortSignal,
): Promise<string> {
  const { type, with: settings, outputs, exceptions, inputs, hosts } = step
  const parts = [
    canonicalJson({ type, version, settings, templates, inputs, outputs, exceptions, ...(hosts && { hosts }) }),
  ]
  try {
    for (const input of inputs) parts.push(...(await describeInput(await open(), input, known, signal)))
  } catch (error) {
    throw asBreach(error)
  }
  return sha256(parts.join('\n'))
}

async function describeInput(
  workspace: Workspace,
  input: string,
  known: Map<string, string>,
  signal: AbortSignal,
): Promise<string[]> {
  const at = input === '' ? workspaceAt : `${workspaceAt}/${input}`
  // Follow links among the inputs: a link that leads out is refused before the step begins.
  const { type } = await workspace.stat(at, { followLinks: true, signal })
  if (type === 'file') return [`${canonicalJson(input)} ${await hashOf(workspace, at, known, signal)}`]
  const lines: string[] = [`${canonicalJson(input)} ${type}`]
  if (type !== 'directory') return lines
  for await (const entry of workspace.list(at, { recursive: true, details: true, signal })) {
    const name = canonicalJson(entry.path)
    if (entry.type === 'file' && entry.unreachable !== true) {
      lines.push(`${name} ${entry.mode ?? ''} ${await hashOrDenied(workspace, entry.path, known, signal)}`)
    } else {
      // changes of an unreadable entry cannot be seen: a random line makes the step run again
      lines.push(`${name} ${entry.type} ${entry.target ?? ''}${entry.unreachable === true ? randomUUID() : ''}`)
    }
  }
  return lines.toSorted()
}

/** The file's hash, or `denied` where a deeper rule denies reading a listed file. */
async function hashOrDenied(
  workspace: Workspace,
  path: string,
  known: Map<string, string>,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await hashOf(workspace, path, known, signal)
  } catch (error) {
    if (isWorkspaceError(error, 'EACCES')) return 'denied'
    throw error
  }
}

async function hashOf(
  workspace: Workspace,
  path: string,
  known: Map<string, string>,
  signal: AbortSignal,
): Promise<string> {
  const { stat, stream } = await workspace.readStream(path, { signal })
  const key = `${path}\n${stat.version}`
  const found = known.get(key)
  if (found !== undefined) {
    await stream.return?.()
    return found
  }
  const sum = createHash('sha256')
  for await (const chunk of stream) sum.update(chunk)
  const hash = sum.digest('hex')
  if (known.size < maxKnown) known.set(key, hash)
  return hash
}

const maxKnown = 100_000

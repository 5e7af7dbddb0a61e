import { isWorkspaceError, quotePath } from '@ws/core'
import type { WorkspaceError } from '@ws/core'

import { ToolProblem } from './problem.ts'
import type { NextOperation, ProblemOptions } from './problem.ts'

export function problemOf(error: unknown): ProblemOptions {
  if (error instanceof ToolProblem) return error.options
  if (isWorkspaceError(error)) return fromWorkspaceError(error)
  return {
    sentence: 'The tool failed with an error of its own.',
    remedy: 'try another way, and tell the user',
    data: { code: 'EIO' },
  }
}

function fromWorkspaceError(error: WorkspaceError): ProblemOptions {
  const { code, operation, path, rule, reason, remedy, partial } = error
  const subject = path === undefined ? '' : `${quotePath(path)} `
  const note = rule === undefined ? '' : ` (rule ${quotePath(rule)})`
  const state = partial === undefined ? undefined : partial.state
  return {
    sentence: sentenceOf(`${subject}${reason}${note}`),
    remedy: firstRemedies[code] ?? remedy ?? remedies[code] ?? 'look at the directory, and try again',
    next: nextFor(error),
    details: state,
    data: { code, operation, path, rule },
  }
}

/** Remedies that replace an error's own remedy: each describes the call that the answer proposes as `next`. */
const firstRemedies: Readonly<Partial<Record<WorkspaceError['code'], string>>> = {
  EISDIR: 'list it, or name a file in it',
  ECONFLICT: 'look at it again, and repeat the call with what is there now',
}

const remedies: Readonly<Partial<Record<WorkspaceError['code'], string>>> = {
  EEXIST: 'choose another path',
  EACCES: 'work on a path that the rules allow',
  EROFS: 'write to a path that is not read-only',
  EOUTSIDE: 'give a path inside the workspace',
  ENOEXECUTOR: 'work with the file operations',
  ETIMEDOUT: 'try again',
  EBUSY: 'try again, or name another path',
}

function nextFor({ code, path }: WorkspaceError): NextOperation {
  const parent = path === undefined ? '.' : parentOf(path)
  if (path === undefined) return { operation: 'list', arguments: { path: '.' } }
  switch (code) {
    case 'EFBIG':
      return { operation: 'read_chunked', arguments: { path, offset_bytes: 0 } }
    case 'EISDIR':
      return { operation: 'list', arguments: { path } }
    case 'ENOTEMPTY':
      return { operation: 'list', arguments: { path } }
    case 'EEXIST':
    case 'ECONFLICT':
    case 'EINVAL':
      return { operation: 'inspect', arguments: { path } }
    case 'EOUTSIDE':
    case 'EACCES':
    case 'EROFS':
      return { operation: 'list', arguments: { path: '.' } }
    default:
      return { operation: 'list', arguments: { path: parent } }
  }
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '.' : slash === 0 ? '/' : path.slice(0, slash)
}

export function sentenceOf(text: string): string {
  return /[.!?]$/u.test(text) ? text : `${text}.`
}

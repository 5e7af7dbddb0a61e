import { isWorkspaceError, quotePath } from '@ws/core'
import { quoteForShell } from '@ws/core/executor'
import type { VirtualPath } from '@ws/core'

import type { ProblemOptions } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'

interface OfficeKind {
  readonly words: string
  readonly format: 'docx' | 'xlsx' | 'pptx'
  /** The Python package that reads the kind, and its name in an `import`. */
  readonly python: readonly [name: string, module: string]
}

const prefix = 'application/vnd.openxmlformats-officedocument.'
const kinds: Readonly<Record<string, OfficeKind>> = {
  [`${prefix}wordprocessingml.document`]: {
    words: 'a Word document',
    format: 'docx',
    python: ['python-docx', 'docx'],
  },
  [`${prefix}spreadsheetml.sheet`]: { words: 'an Excel workbook', format: 'xlsx', python: ['openpyxl', 'openpyxl'] },
  [`${prefix}presentationml.presentation`]: {
    words: 'a PowerPoint presentation',
    format: 'pptx',
    python: ['python-pptx', 'pptx'],
  },
}

/** Milliseconds for the look at the programs. */
const lookTime = 10_000

/** The refusal of an office document. The refusal names a program only if commands have it. `undefined` for other types. */
export async function officeProblem(
  call: Call,
  path: VirtualPath,
  { type, size }: { readonly type: string; readonly size: number },
): Promise<Pick<ProblemOptions, 'sentence' | 'remedy' | 'next'> | undefined> {
  const kind = kinds[type]
  if (kind === undefined) return undefined
  const { words, format, python } = kind
  const sentence = `${quotePath(path)} is ${words} (${format}, ${size} bytes), which has no text to read`
  const look = { operation: 'inspect', arguments: { path } }
  switch (await programOf(call, kind)) {
    case 'pandoc': {
      const command = `pandoc -f ${format} -t markdown ${quoteForShell(path)}`
      return {
        sentence,
        remedy: 'convert it with `pandoc`, which commands have',
        next: { operation: 'execute', arguments: { command } },
      }
    }
    case 'python':
      return {
        sentence,
        remedy: `read it in a command, with the Python package \`${python[0]}\`, which is installed`,
        next: look,
      }
    case undefined:
      return { sentence, remedy: 'look at its type and size with `inspect`', next: look }
  }
}

/** Asks a command of the workspace. Interpreters have no such programs. */
async function programOf(call: Call, { format, python }: OfficeKind): Promise<'pandoc' | 'python' | undefined> {
  const { executor } = call.workspace
  const runsPrograms = executor !== undefined && executor.guarantees.fileContent !== 'interpreter'
  if (!runsPrograms || !call.session.options.commands) return undefined
  const find = `import importlib.util as u; print("python" if u.find_spec("${python[1]}") else "")`
  const command = `pandoc --list-input-formats 2>/dev/null; python3 -I -c '${find}' 2>/dev/null; true`
  try {
    const { stdout } = await call.workspace.exec(command, { login: false, timeout: lookTime, signal: call.signal })
    const found = new Set(stdout.split(/\s+/u))
    return found.has(format) ? 'pandoc' : found.has('python') ? 'python' : undefined
  } catch (error) {
    if (isWorkspaceError(error)) return undefined // commands are refused, so the model could not use a program either
    throw error
  }
}

import { changesOf, type LineChange } from '../edit/block.ts'

export interface Hunk {
  /** Each text after `@@`. Each anchor lies below the anchor before, and the hunk below the last anchor. */
  readonly anchors: readonly string[]
  readonly old: readonly string[]
  readonly changes: readonly LineChange[]
  /** True if the lines are the last lines of the file. */
  readonly atEnd: boolean
}

/** A malformed patch, or a patch that does not fit the file. */
export class PatchProblem extends Error {
  readonly details: string | undefined

  constructor(message: string, details?: string) {
    super(message)
    this.details = details
  }
}

/** The head of a hunk of a unified diff. Its line numbers are ignored: the lines locate the hunk. */
const unifiedHead = /^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/u

export function parseHunks(lines: readonly string[]): Hunk[] {
  const hunks: Hunk[] = []
  let anchors: string[] = []
  let body = new HunkBody()
  const end = (atEnd: boolean): void => {
    if (!body.isEmpty) {
      hunks.push({ anchors, ...body.finish(), atEnd })
      anchors = []
    }
    body = new HunkBody()
  }
  for (const line of lines) {
    if (line === '@@' || line.startsWith('@@ ')) {
      end(false)
      const anchor = line.slice(3)
      if (anchor.trim() !== '' && !unifiedHead.test(line)) anchors.push(anchor)
    } else if (line.trim() === '*** End of File') end(true)
    else if (!body.add(line)) {
      throw new PatchProblem(`the line \`${line.slice(0, 80)}\` must begin with a space, \`-\`, \`+\` or \`@@\``)
    }
  }
  end(false)
  if (anchors.length > 0) throw new PatchProblem(`the line \`@@ ${anchors[0]?.slice(0, 80)}\` has no lines below it`)
  if (hunks.length === 0) throw new PatchProblem('the diff has no lines with `+` or `-`')
  return hunks
}

class HunkBody {
  readonly #old: string[] = []
  readonly #changes: LineChange[] = []
  #removed: string[] = []
  #added: string[] = []

  get isEmpty(): boolean {
    return this.#old.length + this.#removed.length + this.#added.length === 0
  }

  /** False for an unmarked line. An empty line counts as context. */
  add(line: string): boolean {
    const text = `${line.slice(1)}\n`
    if (line.startsWith('+')) this.#added.push(text)
    else if (line.startsWith('-')) this.#removed.push(text)
    else if (line.startsWith(' ') || line === '') {
      this.#close()
      this.#old.push(text)
    } else return false
    return true
  }

  finish(): Pick<Hunk, 'old' | 'changes'> {
    this.#close()
    return { old: this.#old, changes: this.#changes }
  }

  /** Ends a group of changes. Lines that are removed and added again remain unchanged. */
  #close(): void {
    const first = this.#old.length
    for (const { from, to, text } of changesOf(this.#removed, this.#added)) {
      this.#changes.push({ from: first + from, to: first + to, text })
    }
    this.#old.push(...this.#removed)
    this.#removed = []
    this.#added = []
  }
}

export function addedContent(lines: readonly string[]): string {
  const wrong = lines.find((line) => !line.startsWith('+'))
  if (wrong !== undefined)
    throw new PatchProblem(`the line \`${wrong.slice(0, 80)}\` of a new file must begin with \`+\``)
  return lines.map((line) => `${line.slice(1)}\n`).join('')
}

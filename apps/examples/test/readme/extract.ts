import { componentNames, type ComponentName } from '@ws/test-fixtures'
import { s3ServerNames, type S3ServerName } from '@ws/test-fixtures/s3'

/** One runnable example: a ```ts block of a README, with the blocks that continue it. */
export interface Example {
  /** The line of the first fence, from 1. */
  readonly line: number
  readonly code: string
  /** Components of the machine that it needs. */
  readonly needs: readonly ComponentName[]
  /** The store that it finds in its environment, as an operator would name it. */
  readonly store: S3ServerName | undefined
  /** Why it is compiled but not run; absent when it is run. */
  readonly noRun: string | undefined
  /** The expected output, in this order: the comments after calls of `console.log`. */
  readonly prints: readonly string[]
}

type Draft = { -readonly [Key in keyof Omit<Example, 'prints'>]: Example[Key] }

/**
 * The examples of a Markdown text.
 *
 * The word after `ts` in the fence says how the example is treated. Without a word, it is compiled and run as its own module:
 *
 * - `continued`: goes on where the block before it ended.
 * - `needs=bubblewrap,git`: runs only where these components are there.
 * - `store=r2`: finds an S3 store of this machine in `S3_ENDPOINT`, `S3_BUCKET` and the variables of the AWS SDK. May
 *   come before `needs`.
 * - `no-run: why`: is compiled only.
 *
 * A comment after `console.log(…)` is the text that must be printed: `console.log(1 + 1) // 2`.
 *
 * @throws Error for a fence that is never closed or whose words mean nothing.
 */
export function extractExamples(markdown: string): Example[] {
  const drafts: Draft[] = []
  let open: { readonly fence: string; readonly draft: Draft | undefined } | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    const [, fence = '', info = ''] = /^(`{3,}|~{3,})\s*(.*)$/u.exec(text) ?? []
    if (open !== undefined) {
      if (fence.startsWith(open.fence) && info === '') open = undefined
      else if (open.draft !== undefined) open.draft.code += `${text}\n`
    } else if (fence !== '') {
      open = { fence, draft: startBlock(info.trim(), index + 1, drafts) }
    }
  }
  if (open !== undefined) throw new Error('a code block is never closed')
  return drafts.map((draft) => ({ ...draft, prints: expectedOutput(draft.code) }))
}

function startBlock(info: string, line: number, drafts: Draft[]): Draft | undefined {
  const [language = '', ...rest] = info.split(/\s+/u)
  if (language !== 'ts' && language !== 'typescript') return undefined
  const words = rest.join(' ')
  const previous = drafts.at(-1)
  if (words === 'continued') {
    if (previous === undefined) throw new Error(`line ${line}: there is no block to continue`)
    previous.code += '\n'
    return previous
  }
  const [, store, needs] = /^(?:store=(\S+))?(?:(?:^|\s)needs=(\S+))?$/u.exec(words) ?? []
  const [, noRun] = /^no-run:\s*(\S.*)$/u.exec(words) ?? []
  if (words !== '' && store === undefined && needs === undefined && noRun === undefined) {
    throw new Error(`line ${line}: \`${words}\` is neither \`continued\`, \`store=…\`, \`needs=…\` nor \`no-run: why\``)
  }
  const draft: Draft = { line, code: '', needs: parseNeeds(needs, line), store: parseStore(store, line), noRun }
  drafts.push(draft)
  return draft
}

function parseNeeds(needs: string | undefined, line: number): ComponentName[] {
  return (needs?.split(',') ?? []).map((name) => {
    const known = componentNames.find((candidate) => candidate === name)
    if (known === undefined) throw new Error(`line ${line}: there is no component \`${name}\``)
    return known
  })
}

function parseStore(store: string | undefined, line: number): S3ServerName | undefined {
  if (store === undefined) return undefined
  const known = s3ServerNames.find((candidate) => candidate === store)
  if (known === undefined) throw new Error(`line ${line}: there is no store \`${store}\``)
  return known
}

function expectedOutput(code: string): string[] {
  return [...code.matchAll(/^.*console\.log\(.*\)\s*\/\/ (.+)$/gmu)].map(([, text = '']) => text.trim())
}

/** The relative links of a Markdown text, and the paths of this repository that it names between backticks. */
export function extractPaths(markdown: string): { readonly links: string[]; readonly paths: string[] } {
  const prose = markdown.replaceAll(/^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\s*$/gmu, '')
  const links = [...prose.matchAll(/\]\((?!https?:|mailto:|#)([^)\s#]+)(?:#[^)]*)?\)/gu)].map(([, link = '']) => link)
  const paths = [...prose.matchAll(/`((?:packages|apps|lab|docs|scripts|test-fixtures|\.ci)\/[^`\s*{}<>…]*)`/gu)]
  return { links, paths: paths.map(([, path = '']) => path) }
}

/** The packages that install lines name. */
export function installedBy(lines: readonly string[]): string[] {
  return lines.flatMap((text) => {
    const [, names = ''] = /^(?:npm install|npm run pack -- \S+) (.*)$/u.exec(text) ?? []
    return names.split(/\s+/u).filter((name) => name !== '')
  })
}

import { globSync, readFileSync } from 'node:fs'

import { packageFolders } from '@ws/test-fixtures/report'

export interface Passage {
  readonly file: string
  readonly line: number
  readonly text: string
}

const sources = [
  `${packageFolders}/{src,test,bench}/**/*.{ts,pl}`,
  'test-fixtures/{src,test}/**/*.ts',
  'scripts/**/*.{ts,sh}',
  'lab/mutate/**/*.ts',
]
const pages = ['{docs,packages,apps,lab,test-fixtures}/**/*.md', '*.md']
/** Files that are not checked: this file quotes such a sentence, and two pages are not rewritten yet. */
const excepted = ['scripts/lib/translated.ts', 'docs/architecture.md', 'docs/guides/write-an-adapter.md']
const exclude = ['**/node_modules/**', '**/dist/**', ...excepted]

/** A clause in the place of a subject: "What is missing is made." Questions, titles and "what if" are English. */
const headless =
  /(?:^|[.:;!)]\s+|\*\*|[|'"`(]\s*|\/\*\*\s+|^\s*[*-]\s+|(?:\/\/|#)\s+)(?:What|Whatever|Who|Whoever)\s+(?!if\b)[^?]*?(?:[.;]\s|$)/u
/** The line of a title, in a page or in the code that writes one. */
const title = /^['"`]?#+ /u

/** Matches "is no" with a noun. `there is no` and `is no longer` are correct English. */
const negated = /(?<!there )\b(?:is|are) no\b(?! longer)|\bthat (?:is|are) none\b|\bof one's own\b/u
const comment = /^(?:\/\/|\/?\*)/u

/** A comment that opens with "Of", or continues with "Of" at the start of a line. */
const ofOpening = /(?:^\/\*\*|^\*|(?:^|\s)\/\/)\s+Of\s/u
const nameless = /\b(?:nobody|somebody)\b/iu
const systemUser = /\bnobody:|`nobody`/gu
/** A title of a test, which other pages name. */
const testTitle = /^(?:test|it)\(/u
const commentPart = /^(?:\/\/|\/?\*).*|\s\/\/\s.*/u

export function headlessSentences(): Passage[] {
  return linesOf([...sources, ...pages]).filter(
    ({ file, text }) => headless.test(text) && !(title.test(text) && isTitled(file, text)),
  )
}

/** Texts for users and models that say "is no" instead of "is not a". */
export function negatedNouns(): Passage[] {
  return linesOf([`${packageFolders}/src/**/*.ts`]).filter(({ text }) => {
    if (comment.test(text)) return false
    return (text.match(/'[^']*'|"[^"]*"|`[^`]*`/gu) ?? []).some((part) => negated.test(part))
  })
}

export function ofOpenings(): Passage[] {
  return linesOf(sources).filter(({ text }) => ofOpening.test(text))
}

/** Comments everywhere, and texts of the programs, in which "nobody" or "somebody" is the actor. Titles of tests are left out. */
export function namelessActors(): Passage[] {
  return linesOf(sources).filter(({ file, text }) => {
    const isProgram = /^(?:packages|apps|lab)\/.*\/src\//u.test(file)
    if (testTitle.test(text)) return false
    const looked = isProgram ? text : (commentPart.exec(text)?.[0] ?? '')
    return nameless.test(looked.replaceAll(systemUser, ''))
  })
}

/** False for a `#` line in perl and sh, where it is a comment and not a title. */
function isTitled(file: string, text: string): boolean {
  return file.endsWith('.md') || !text.startsWith('#')
}

function linesOf(patterns: readonly string[]): Passage[] {
  return globSync(patterns, { exclude })
    .sort()
    .flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((text, index) => ({ file, line: index + 1, text: text.trim() })),
    )
}

import { createInterface } from 'node:readline/promises'

import { UsageError } from '../../errors.ts'
import { checkMountPoint } from '../../usage.ts'

export interface Choices {
  /** A host path, absolute or relative to the working directory. */
  readonly root: string
  readonly at: string
  /** True to deny reading secrets, and changing git hooks. */
  readonly protect: boolean
  /** True to run commands only where every boundary is enforced. */
  readonly untrusted: boolean
}

export type Ask = (question: string) => Promise<string | undefined>

const mostTries = 3

/** Asks for each choice, with the current choice as default. @throws UsageError after three invalid answers, or without input */
export async function askChoices(
  ask: Ask,
  complain: (text: string) => void,
  { root, at, protect, untrusted }: Choices,
  isDirectory: (path: string) => boolean,
): Promise<Choices> {
  const choose = async <Value>(question: string, shown: string, parse: (answer: string) => Value): Promise<Value> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await ask(`${question} [${shown}] `)
      if (answer === undefined) throw new UsageError('the answers ended early; nothing was written')
      try {
        return parse(answer.trim() === '' ? shown : answer.trim())
      } catch (error) {
        if (!(error instanceof UsageError) || tries === mostTries) throw error
        complain(error.message)
      }
    }
  }
  return {
    root: await choose('Directory of the workspace', root, (answer) => {
      if (isDirectory(answer)) return answer
      throw new UsageError('that is not a directory; give the path of one, such as `.`')
    }),
    at: await choose('Its place for the agent, /workspace or /', at, (answer) => checkMountPoint(answer, 'the place')),
    protect: await choose('Protect secrets (.env, keys) and git hooks, y or n', yesOrNo(protect), parseYesOrNo),
    untrusted: await choose('Refuse commands where a boundary is missing, y or n', yesOrNo(untrusted), parseYesOrNo),
  }
}

const yesOrNo = (value: boolean): string => (value ? 'y' : 'n')

function parseYesOrNo(answer: string): boolean {
  if (/^y(?:es)?$/iu.test(answer)) return true
  if (/^no?$/iu.test(answer)) return false
  throw new UsageError('give y or n')
}

/** Asks on this process's terminal. Ctrl-C ends the program. */
export function terminalAsk(signal: AbortSignal): { readonly ask: Ask } & Disposable {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const ended = Promise.withResolvers<undefined>()
  terminal.once('close', () => ended.resolve(undefined))
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  return {
    ask: (question) => Promise.race([terminal.question(question, { signal }), ended.promise]),
    [Symbol.dispose]: () => terminal.close(),
  }
}

import { createSanitizeExecutor } from '@ws/executor-sanitize'

import { readCorpus } from './corpus.ts'
import { fixture } from './fixture.ts'
import { compareWithBubblewrap, inExecutor } from './suite.ts'

const subject = {
  name: 'sanitize',
  components: ['perl', 'bash'],
  create: inExecutor(() => createSanitizeExecutor()),
  leastRun: 0.8,
} as const

compareWithBubblewrap(subject)

const names = Object.keys(fixture)
  .filter((name) => /^[\w./-]+$/.test(name))
  .sort((left, right) => right.length - left.length)
  .map((name) => name.replaceAll('.', String.raw`\.`))
const ownNames = new RegExp(String.raw`(?<![\w./$-])(?:\./)?(${names.join('|')})(?![\w-]|\.[a-z])`, 'g')

// It maps absolute paths, so every one-liner is run with them too, at one of the two places. The outcome must be that of a
// view.
const lines = [...readCorpus({ all: true }).values()].flat()
for (const [turn, at] of ['/', '/workspace'].entries()) {
  const runs = (line: string) => lines.indexOf(line) % 2 === turn
  const below = at === '/' ? '/' : `${at}/`
  const rewrite = (line: string) =>
    line
      .replaceAll('/workspace/', below)
      .replace(ownNames, `${below}$1`)
      .replace(/(?<=find )\.(?= )/, at)
  const components = [...subject.components, 'proot'] as const
  compareWithBubblewrap({ ...subject, components, runs, variant: { title: `absolute paths at ${at}`, at, rewrite } })
}

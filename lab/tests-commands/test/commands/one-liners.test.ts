/** @module-tag all */
import { createProotExecutor } from '@ws/executor-proot'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { deep } from '@ws/test-fixtures'

import { readCorpus } from './corpus.ts'
import { createPlainRunner } from './executors.ts'
import { fixture } from './fixture.ts'
import { compareWithBubblewrap, inExecutor, type Subject } from './suite.ts'

const sanitize: Subject = {
  name: 'sanitize',
  components: ['perl', 'bash'],
  create: inExecutor(() => createSanitizeExecutor()),
  leastRun: 0.5,
}
const virtual: Subject = {
  name: 'virtual',
  components: [],
  create: inExecutor(() => createVirtualExecutor()),
  ownPrograms: true,
  leastRun: 0.6,
}
const lines = [...readCorpus({ all: true }).values()].flat()
/** Whether a line belongs to one of so many equal parts of the corpus. */
const isInPart = (line: string, part: number, parts: number) => lines.indexOf(line) % parts === part
// The programs of the next two are those of the reference: each runs a sixth of the lines, and in the deep tier alone.
const proot: Subject = {
  name: 'proot',
  components: ['proot'],
  create: inExecutor(() => createProotExecutor()),
  runs: (line) => isInPart(line, 0, 6),
  leastRun: 1,
}
/** Paths that mean something else without a view, or nothing. */
const namesPlaces =
  /(?:^|[\s"'=<>(|:])[/~]|\$\(pwd|\$\{?(?:HOME|PWD|OLDPWD)|\bpwd\b|mktemp|realpath|readlink -f|cd\s*(?:$|[;&])/m
const plain: Subject = {
  name: 'plain',
  components: ['bash'],
  create: createPlainRunner,
  runs: (line) => isInPart(line, 1, 6) && !namesPlaces.test(line),
  leastRun: 1,
}

compareWithBubblewrap(deep ? [sanitize, virtual, proot, plain] : [sanitize, virtual])

const names = Object.keys(fixture)
  .filter((name) => /^[\w./-]+$/.test(name))
  .sort((left, right) => right.length - left.length)
  .map((name) => name.replaceAll('.', String.raw`\.`))
const ownNames = new RegExp(String.raw`(?<![\w./$-])(?:\./)?(${names.join('|')})(?![\w-]|\.[a-z])`, 'g')

// Sanitize maps absolute paths, so every one-liner that names a file is run with them too, at one of the two places. The
// outcome must be that of a view.
for (const [turn, at] of ['/', '/workspace'].entries()) {
  const below = at === '/' ? '/' : `${at}/`
  const rewrite = (line: string) =>
    line
      .replaceAll('/workspace/', below)
      .replace(ownNames, `${below}$1`)
      .replace(/(?<=find )\.(?= )/, at)
  const runs = (line: string) => isInPart(line, turn, 2) && rewrite(line) !== line
  const components = [...sanitize.components, 'proot'] as const
  compareWithBubblewrap([{ ...sanitize, components, runs }], { title: `absolute paths at ${at}`, at, rewrite })
}

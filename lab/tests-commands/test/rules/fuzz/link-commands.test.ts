/** @module-tag all */
import { createWorkspace } from '@ws/core'
import { quoteForShell } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { codeOf, component, createScratchDirectory, deep, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it } from 'vitest'
import { mountsOf } from './disk.ts'
import { attemptsOf, drawLinks, showSet } from './link-attempts.ts'
import { expectIn, isReported, makeLinks, probe, ruledNames } from './link-commands.ts'
import { LinkTree } from './link-trees.ts'

const seed = Number(process.env['WS_SEED'] ?? (deep ? Math.floor(Math.random() * 2 ** 31) : 80_003))
const most = deep ? 3_000 : 300

for (const root of ['/', '/workspace'] as const)
  describeWith(
    [component('bubblewrap'), component('perl')],
    `rule sets and links drawn by lot, in bubblewrap at ${root}`,
    () => {
      it(`[RU10] mean in commands what a slow model says (WS_SEED=${seed})`, { tags: 'rounds' }, async () => {
        const executor = createBubblewrapExecutor()
        const tried = { refused: 0, named: 0, free: 0, reported: 0, unknown: 0 }
        for (let index = 0; tried.refused + tried.free < most; index += 1) {
          const set = drawLinks(seed + index)
          if (set.root !== root) continue
          const tree = new LinkTree(set)
          await using scratch = await createScratchDirectory({ prefix: 'ws-links-', owner: ordinaryOwner() })
          await makeLinks(set, scratch)
          await using workspace = await createWorkspace({
            mounts: mountsOf(set, scratch),
            rules: set.written,
            executors: [executor],
          })
          const told = await codeOf(workspace.exec('true'))
          if (told === 'EACCES' || told === 'EUNENFORCEABLE') continue
          const attempts = [...attemptsOf(set, tree)].filter(({ operation }) => !/edit|Over|Through/.test(operation))
          const result = await workspace.exec(`perl -e ${quoteForShell(probe)} ${quoteForShell(root)}`, {
            stdin: attempts.map(({ operation, path }) => `${operation}\t${path}\n`).join(''),
            login: false,
            timeout: 60_000,
          })
          const answers = result.stdout.trimEnd().split('\n')
          const fail = (what: string) =>
            expect.fail(
              `WS_SEED=${seed + index}: ${what}\n${result.stderr}\n${showSet(set)}\n${JSON.stringify(result.violations)}`,
            )
          if (answers.length !== attempts.length) fail('the probe ended early')
          const covered = ruledNames(set, tree)
          for (const [number, attempt] of attempts.entries()) {
            const { must, free, reported } = expectIn(set, tree, attempt, covered)
            const answer = answers[number] ?? ''
            const what = `${attempt.operation} ${attempt.path} is ${answer}`
            if (must && answer === 'done') fail(`${what}, and must be refused`)
            if (free && /^(?:EACCES|EPERM|EROFS)$/.test(answer)) fail(`${what}, and must not be refused`)
            if (reported !== undefined && answer === 'done' && !isReported(result, tree, reported))
              fail(`/${reported.join('/')} is not reported`)
            if (must && attempt.judgement.named !== undefined) tried.named += 1
            tried[must ? 'refused' : free ? 'free' : reported === undefined ? 'unknown' : 'reported'] += 1
          }
        }
        console.info(`WS_SEED=${seed}`, tried)
      })
    },
  )

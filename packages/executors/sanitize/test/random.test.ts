import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'

import { isWorkspaceError } from '@ws/core'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, describeWith, deep, seededRandom } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openSite, secret, type Site } from './support.ts'
import { escapes, files, links } from './vectors/files.ts'

const seeds = deep ? [1, 2, 3] : [Number(process.env['SEED'] ?? 1)]
const milliseconds = deep ? 10_000 : 500

const names =
  '.|..|docs|src|lib|e|d|esc|out|sibling|sibling/|secret.txt|a.txt|up|*|.*|..*|?|[a-z]*|ws2|to-src|"$x"|$x|~|\'..\'|$PWD|$HOME|.$e|\\.\\.|"$*"|${PWD%?}|{a.txt,out}|$(rev<t)'.split(
    '|',
  )
const programs = [
  'cat|head -n3|grep -r ""|grep -h ""|grep -R ""|grep -f|tail|sort|ls -la|ls -nL|find|find -L|sed -n p|cat <|cat --|wc|cut -c1-30|uniq',
  'cp -t /|cp -r|cp -a|cp -rL|cp|mv|mv -t /|ln -s|ln|ln -sf|rm -rf|mkdir -p|touch|tee /t <|sed -i s/a/b/|sort -o|diff /a.txt|diff -r /docs|diff',
  'cd|cd|x=|y=|e=|X=1 cat|test -f|[ -z|source|eval cat|read x <|xargs cat|tar -xf|env cat|realpath|tr / _|tr / _ <<<|cut -c2- <<<',
  'echo|echo -n|echo -e|echo a=~|printf "%s\\0"|printf "%.30s"|printf "%sx"|printf|pwd|pwd -P|cat <<<|grep -o .|find "$PWD"|tee t|uniq -',
].flatMap((line) => line.split('|'))
const actions = ['-delete', '-print0', '-name "*"', '-exec cat {} \\;', '-newer a.txt']

/** Command lines out of everything that could lead out, the same for the same seed. */
function createLines(seed: number) {
  const random = seededRandom(seed)
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? ''
  const path = () =>
    (random() < 0.4 ? '/' : '') + Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(names)).join('/')
  const simple = () => {
    const program = pick(programs)
    const words = path() + (random() < 0.35 ? ` ${path()}` : '')
    if (program === 'find') return `find ${words} ${pick(actions)}`
    return program.endsWith('=') ? program + path() : `${program} ${words}`
  }
  return () => {
    const count = 1 + Math.floor(random() * 4)
    let line = simple()
    for (let index = 1; index < count; index++)
      line += pick(['; ', ' && ', ' || ', '\n', ' & ', ' | ', '; ']) + simple()
    const around = random()
    if (around < 0.1) return `(${line})`
    if (around < 0.15) return `{ ${line}; }`
    return around < 0.18 ? `if true; then ${line}; fi` : line
  }
}

/** Any name on the way to the workspace's directory, also reversed. */
function places({ outside }: Site): RegExp {
  const names = outside.split('/').filter((name) => name.length > 5)
  return new RegExp([...names, ...names.map((name) => [...name].reverse().join(''))].join('|'))
}

describeWith(component('bash'), 'random commands, without Landlock', () => {
  for (const seed of seeds) {
    it(`[PC9] none reaches what is outside, or shows where the workspace is (seed ${seed})`, {
      tags: 'rounds',
      timeout: milliseconds + 60_000,
    }, async () => {
      const next = createLines(seed)
      const end = Date.now() + milliseconds
      let ran = 0
      while (Date.now() < end) {
        // A fresh one now and then, since they take everything away; with links that lead out, and without.
        for (const extra of [escapes, {}]) {
          await using site = await openSite({
            executor: createSanitizeExecutor({ landlock: 'off' }),
            files,
            links: { ...links, ...extra },
          })
          for (let count = 0; count < 300; count++) {
            const command = next()
            const result = await site.run(command, { timeout: 5_000 }).catch((error: unknown) => {
              // `EBUSY`: a name of the system has come to the root
              if ((['EUNENFORCEABLE', 'EINVAL', 'EBUSY'] as const).some((code) => isWorkspaceError(error, code))) return
              throw new Error(`failed: ${command}`, { cause: error })
            })
            if (result === undefined) continue
            ran++
            const output = result.stdout + result.stderr
            expect({ command, leaks: output.includes(secret), shows: places(site).test(output) }).toEqual({
              command,
              leaks: false,
              shows: false,
            })
            expect({ command, beside: (await readdir(site.outside)).sort() }).toEqual({
              command,
              beside: ['secret.txt', 'ws', 'ws2'],
            })
          }
          expect(await readFile(`${site.outside}/secret.txt`, 'utf8')).toBe(`${secret}\n`)
          for (const kept of [secret, places(site).source])
            expect(
              spawnSync('grep', ['-rlE', '--devices=skip', kept, site.directory], { encoding: 'utf8' }).stdout,
            ).toBe('')
        }
      }
      expect(ran).toBeGreaterThan(20)
    })
  }
})

import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'

import { isWorkspaceError } from '@ws/core'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, describeWith, deep } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openSite, secret, type Site } from './support.ts'
import { escapes, files, links } from './vectors/files.ts'

const seeds = deep ? [1, 2, 3] : [Number(process.env['SEED'] ?? 1)]
const milliseconds = deep ? 10_000 : 500

const names =
  '.. . docs src lib e d esc out sibling secret.txt a.txt up * .* ..* ? [a-z]* ws2 to-src $x $y "$x" ${x} ~ \'..\' {docs,src} $(pwd) $PWD $HOME $1 "$@" .$e ${x:-..} $((1)) \\.\\. $OLDPWD "$f" {} @(..) "$(cat x)" ${PWD%/*} ${PWD%?} ${x%??} ${x##*/} ${PWD:1} "$(realpath .)" $_ "$*" ..* $(rev<t)'.split(
    / (?![^(]*\))/,
  )
const programs = [
  ...[
    'cat',
    'head -n3',
    'grep -r ""',
    'grep -h ""',
    'tail',
    'sort',
    'ls -la',
    'find',
    'sed -n p',
    'awk 1',
    'cat <',
    'paste',
    'nl',
    'tac',
  ],
  ...[
    'cp -t /',
    'cp -r',
    'cp -a',
    'mv',
    'ln -s',
    'ln',
    'ln -sf',
    'ln -sr',
    'rm -rf',
    'rmdir',
    'mkdir -p',
    'touch',
    'unlink',
    'install',
  ],
  ...[
    'tar -cf /x.tar',
    'tar -cf -',
    'tar -xf /x.tar -C',
    'cd',
    'cd',
    'x=',
    'y=',
    'e=',
    'xargs -0 cat <',
    'env cat',
    'exec cat',
    'command cd',
  ],
  ...[
    'diff /a.txt',
    'dd if=',
    'tee /t <',
    'cat --',
    'wc',
    'od -c',
    'base64',
    'cmp /a.txt',
    'readlink -f',
    'test -f',
    'source',
    'read x <',
  ],
  ...[
    'eval cat',
    'gzip -c',
    'comm a.txt',
    'strings',
    'dirname',
    'printf "%s\\0"',
    'find -L',
    'echo',
    'ptx',
    'csplit a.txt 1 -f',
    'diff -r /docs',
  ],
  ...['for f in', 'find -exec'],
  // Those that show where the workspace is, and those that change what they are given.
  ...['realpath', 'readlink -f', 'mktemp -d', 'printenv', 'env', 'declare -p', 'export -p', 'set', 'pwd', 'pwd -P'],
  ...[
    'rev',
    'rev <<<',
    'tr / _',
    'tr / _ <<<',
    'cut -c1-30',
    'tac -s /',
    'tee t',
    'dd of=',
    'read -n 30 x <<<',
    'xargs',
  ],
  ...['printf "%.30s"', 'printf "%sx"', 'echo a=~', 'cat <<<', 'grep -o .', 'paste -', 'split -', 'find "$PWD"'],
]
const actions = [
  '-exec cat {} \\;',
  '-print0 | xargs -0 cat',
  '-print0 | xargs -0 -I{} cp {} /',
  '-exec mv {} . \\;',
  '-exec cp -a {} /d \\;',
  '-type l -exec ln {} /e \\;',
]

/** Command lines out of everything that could lead out, the same for the same seed. */
function createLines(seed: number) {
  let state = seed
  const random = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? ''
  const path = () =>
    (random() < 0.4 ? '/' : '') + Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(names)).join('/')
  const simple = () => {
    const program = pick(programs)
    const words = path() + (random() < 0.35 ? ` ${path()}` : '')
    if (program === 'for f in') return `for f in ${words}; do cat "$f"; done`
    if (program === 'find -exec') return `find ${words} ${pick(actions)}`
    return program.endsWith('=') ? program + path() : `${program} ${words}`
  }
  return () => {
    const count = 1 + Math.floor(random() * 4)
    let line = simple()
    for (let index = 1; index < count; index++)
      line += pick(['; ', ' && ', ' || ', '\n', ' & ', ' | ', '; ']) + simple()
    const around = random()
    if (around < 0.06) return `(${line})`
    if (around < 0.1) return `if true; then ${line}; fi`
    if (around < 0.14) return `for i in 1 2; do ${line}; done`
    if (around < 0.18) return `sh -c '${line.replaceAll("'", `'\\''`)}'`
    if (around < 0.2) return `g() { ${line}; }; g`
    return around < 0.22 ? `echo "$(${line})"` : line
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
              if (isWorkspaceError(error, 'EUNENFORCEABLE') || isWorkspaceError(error, 'EINVAL')) return undefined
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

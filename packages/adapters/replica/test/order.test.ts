/** @module-tag all */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { asOwner, component, deep, describeWith } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { expect, it } from 'vitest'

import { materialize, Moments } from './support/moments.ts'
import { machineOf, ownDirectory } from './support/site.ts'

const run = promisify(execFile)
const env = {
  ...{ PATH: process.env['PATH'], HOME: '/nowhere', GIT_CONFIG_NOSYSTEM: '1' },
  ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
  ...{ GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' },
}

interface Pushes {
  /** Each is one push, on the state that those before have left: a name, and a script of the shell. */
  readonly steps: readonly (readonly [string, string])[]
  /** The replica pushes again and again while a script runs, as for a command in the background. */
  readonly isBusy?: boolean
  /** Moments of each step that are looked at. */
  readonly looks: number
  /** The faults that a program finds in each of these trees, or an empty text. */
  readonly faultsIn: (directories: readonly string[]) => readonly string[]
}

/** Lets programs change a tree, and reads the store at seeded moments of the pushes. */
async function expectWhole({ steps, looks, faultsIn, isBusy = false }: Pushes): Promise<void> {
  const random = seededRandom(1)
  const pick = (count: number): number => Math.floor(random() * count)
  const store = createMemoryAdapter()
  const moments = new Moments(store, pick)
  const { replica, root } = await machineOf(store, { persist: 'flush' })
  const directory = await ownDirectory()
  const faults: string[] = []
  for (const [name, script] of steps) {
    const end = isBusy ? await replica.beginCommand?.({ background: true }) : undefined
    let isRunning = true
    const running = run('bash', ['-ec', script], { cwd: root, env, ...asOwner() }).finally(() => (isRunning = false))
    // a file that never holds still
    while (isBusy && isRunning) await Promise.resolve(replica.flush()).catch(() => undefined)
    await running
    await end?.()
    await replica.flush()
    const looked = Array.from({ length: looks }, (_, look) => ({
      moment: pick(moments.count),
      at: join(directory, `${look}`),
    }))
    for (const { moment, at } of looked) {
      mkdirSync(at)
      materialize(moments.at(moment), at)
    }
    for (const [index, fault] of faultsIn(looked.map(({ at }) => at)).entries())
      if (fault !== '') faults.push(`${name}, ${looked[index]?.moment} of ${moments.count}: ${fault}`)
    for (const { at } of looked) rmSync(at, { recursive: true })
    moments.settle()
  }
  expect(faults).toEqual([])
}

const git: Pushes = {
  looks: deep ? 25 : 1,
  steps: [
    [
      'a first commit',
      'git init -q -b main repo; cd repo; git config gc.auto 0; seq 5 > f; git add -A; git commit -qm one',
    ],
    ['commits', 'cd repo; for i in 1 2 3; do echo $i > f$i; git add -A; git commit -qm $i; done'],
    [
      'a branch',
      'cd repo; git checkout -qb side HEAD~1; echo side > side; git add -A; git commit -qm side; git tag -am t t1',
    ],
    ['a merge', 'cd repo; git checkout -q main; echo m > m; git add -A; git commit -qm m; git merge -q --no-edit side'],
    ['gc', 'cd repo; git reflog expire --expire=now --all; git gc -q --prune=now'],
    ['a clone', 'git clone -q --no-hardlinks repo clone'],
    [
      'a name below a branch',
      'cd repo; git checkout -q side; git branch -m side side/below; git commit -q --allow-empty -m x',
    ],
    [
      'a rebase',
      'cd repo; git rebase -q main; git commit -q --amend --allow-empty -m y; git reflog expire --expire=now --all; git gc -q --prune=now',
    ],
    [
      'a fetch',
      'cd repo; git checkout -q main; echo z > z; git add -A; git commit -qm z; cd ../clone; git fetch -q --prune; git reset -q --hard origin/main',
    ],
  ],
  faultsIn: (directories) => directories.map(gitFaultsIn),
}

function gitFaultsIn(directory: string): string {
  const faults: string[] = []
  for (const cwd of [join(directory, 'repo'), join(directory, 'clone')]) {
    const ask = (...words: string[]) => spawnSync('git', words, { cwd, env, encoding: 'utf8' })
    // a clone that has only begun
    if (!existsSync(join(cwd, '.git/HEAD')) || ask('rev-parse', '--git-dir').status !== 0) continue
    // git was running
    for (const lock of globSync('**/*.lock', { cwd: join(cwd, '.git') })) rmSync(join(cwd, '.git', lock))
    for (const words of [
      ['fsck', '--full', '--no-dangling'],
      ['status', '--short'],
      ['commit', '-q', '--allow-empty', '-m', 'next'],
    ]) {
      const { status, stdout, stderr } = ask(...words)
      if (status !== 0) faults.push(`${cwd.slice(directory.length)}: ${stdout}${stderr}`)
    }
  }
  return faults.join('')
}

/** Moves amounts between random accounts. A mixture of two states has another sum. */
const move = (times: number, checkpointPages: number, end: 'close' | 'kill'): string => `python3 -c "
import sqlite3, os, random
db = sqlite3.connect('d.db', isolation_level=None)
db.execute('PRAGMA journal_mode = wal')
db.execute('PRAGMA wal_autocheckpoint = ${checkpointPages}')
db.execute('CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY, amount INTEGER, text TEXT)')
if not db.execute('SELECT count(*) FROM t').fetchone()[0]:
    db.execute('BEGIN')
    for n in range(100): db.execute('INSERT INTO t VALUES (?, 100, hex(randomblob(1000)))', [n])
    db.execute('COMMIT')
for _ in range(${times}):
    db.execute('BEGIN')
    db.execute('UPDATE t SET amount = amount - 7 WHERE n = ?', [random.randrange(100)])
    db.execute('UPDATE t SET amount = amount + 7 WHERE n = ?', [random.randrange(100)])
    db.execute('COMMIT')
${end === 'close' ? 'db.close()' : 'os._exit(0)'}
"`

const sqlite: Pushes = {
  looks: deep ? 25 : 2,
  steps: [
    ['a new database', move(3, 1000, 'close')],
    ['a new log', move(3, 1000, 'kill')],
    ['a longer log', move(3, 1000, 'kill')],
    ['checkpoints', move(30, 10, 'kill')],
    ['more checkpoints', move(40, 12, 'kill')],
    ['an end', move(1, 1000, 'close')],
    ['checkpoints and a new log', move(40, 9, 'kill')],
    ['a log of many', move(60, 1000, 'kill')],
    ['the last end', move(20, 10, 'close')],
  ],
  faultsIn(directories) {
    const program = `
import sqlite3, sys
for at in sys.argv[1:]:
    at += '/d.db'
    fault = ''
    try:
        db = sqlite3.connect(at)
        [fault] = db.execute('PRAGMA integrity_check').fetchone()
        [sum] = db.execute('SELECT sum(amount) FROM t').fetchone()
        fault = '' if fault == 'ok' and sum in [None, 10000] else f'{fault}, {sum}'
    except sqlite3.OperationalError as error:
        # the first program has not made it yet
        if fault == 'ok' and 'no such table' in str(error): fault = ''
        else: fault = str(error)
    print(fault)`
    return execFileSync('python3', ['-c', program, ...directories], { encoding: 'utf8' }).split('\n')
  },
}

const pack = (name: string, version: number): string =>
  `mkdir -p package/lib; for i in $(seq 40); do echo 'module.exports = "${name}@${version}"' > package/lib/m$i.js; done
echo '{"name":"${name}","version":"${version}.0.0","main":"lib/m1.js"}' > package/package.json
tar czf ${name}-${version}.tgz package; rm -r package`
/** Its cache is no part of the tree. */
const callNpm = (words: string): string =>
  `cache=$(mktemp -d); npm ${words} --offline --cache $cache --no-audit --no-fund --no-update-notifier --silent; rm -r $cache`

const npm: Pushes = {
  looks: deep ? 40 : 2,
  steps: [
    ['packages', [pack('one', 1), pack('one', 2), pack('two', 1), 'echo {} > package.json'].join('\n')],
    ['an install', callNpm('install ./one-1.tgz')],
    ['another', callNpm('install ./two-1.tgz')],
    ['a new version', callNpm('install ./one-2.tgz')],
    ['a removal', callNpm('uninstall two')],
  ],
  faultsIn: (directories) => directories.map(npmFaultsIn),
}

function npmFaultsIn(directory: string): string {
  const modules = join(directory, 'node_modules')
  if (!existsSync(join(modules, '.package-lock.json'))) return ''
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>
  }
  return Object.entries(packages)
    .flatMap(([path, { version }]) => {
      return Array.from({ length: 40 }, (_, index) => join(directory, path, `lib/m${index + 1}.js`))
        .filter((file) => {
          // the files of a later version come before its name
          return (
            !existsSync(file) || Number(/@(\d+)/u.exec(readFileSync(file, 'utf8'))?.[1]) < Number.parseInt(version, 10)
          )
        })
        .map((file) => `${path} ${version}: ${file.slice(directory.length)}`)
    })
    .join(', ')
}

const busyGit: Pushes = {
  ...git,
  isBusy: true,
  steps: [
    git.steps[0] ?? ['', ''],
    ['commits', 'cd repo; for i in $(seq 30); do echo $i > f; git commit -qam $i; done'],
    ['branches', 'cd repo; for i in $(seq 20); do git checkout -qb b$i; echo $i > f; git commit -qam $i; done'],
    ['packs', 'cd repo; for i in $(seq 6); do echo a$i > f; git commit -qam a$i; git gc -q --prune=now; done'],
  ],
}
const busySqlite: Pushes = {
  ...sqlite,
  isBusy: true,
  steps: [
    ['a new database', move(3, 1000, 'close')],
    ['a program that goes on', move(300, 40, 'kill')],
    ['one that rests', move(60, 20, 'close').replace("COMMIT')\ndb", "COMMIT'); __import__('time').sleep(0.03)\ndb")],
  ],
}

const timeout = 600_000
describeWith(component('git'), 'a reader of the store at any moment of a push', () => {
  it('[RE4] finds whole repositories of git', { tags: 'rounds', timeout }, () => expectWhole(git))
  it('[RE4] finds them while git runs', { tags: 'rounds', timeout }, () => expectWhole(busyGit))
})
describeWith(component('python3'), 'a reader of the store at any moment of a push', () => {
  it('[RE4] finds whole databases', { tags: 'rounds', timeout }, () => expectWhole(sqlite))
  it('[RE4] finds them while programs write', { tags: 'rounds', timeout }, () => expectWhole(busySqlite))
})
describeWith(component('npm'), 'a reader of the store at any moment of a push', () => {
  it('[RE4] finds the packages that npm names', { tags: 'rounds', timeout }, () => expectWhole(npm))
})

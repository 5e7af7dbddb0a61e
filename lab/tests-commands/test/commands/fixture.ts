import { ordinaryOwner } from '@ws/test-fixtures'
import fs from 'node:fs'

/** Bytes as text, one character for each byte: names and contents need not be UTF-8. */
type Bytes = string

export type Entry =
  | { readonly type: 'directory'; readonly mode: number }
  | { readonly type: 'file'; readonly mode: number; readonly content: Bytes }
  | { readonly type: 'link'; readonly target: Bytes }
  | { readonly type: 'other'; readonly mode: number }

/** By path below the root. */
export type Tree = Readonly<Record<Bytes, Entry>>

const utf8 = (text: string): Bytes => Buffer.from(text).toString('latin1')
const file = (content: Bytes, mode = 0o644): Entry => ({ type: 'file', mode, content })
const directory = (mode = 0o755): Entry => ({ type: 'directory', mode })
const link = (target: string): Entry => ({ type: 'link', target })
const everyByte = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join('')

/** The tree that every one-liner starts with. */
export const fixture: Tree = {
  'a.txt': file('alpha\nbeta\ngamma\ndelta\nbeta\n'),
  'b.txt': file('beta\nepsilon\nzeta\n'),
  'words.txt': file('pear\nApple\nfig\napple\nBanana\nfig\ncherry\n\ndate\nfig\n'),
  'numbers.txt': file('10\n9\n2\n33\n1\n-4\n2\n0.5\n100\n'),
  'data.csv': file('name,city,amount\nAda,London,30\nBob,Paris,7\nCid,London,12\nDee,Oslo,30\n'),
  'people.tsv': file('1\tAda\tLondon\n2\tBob\tParis\n3\tCid\tLondon\n'),
  'log.txt': file(
    '2024-01-01 INFO start\n2024-01-01 WARN disk 81%\n2024-01-02 ERROR disk full\n2024-01-02 INFO retry\n2024-01-03 ERROR net down\n',
  ),
  'text.txt': file(
    'The quick brown fox\njumps over the lazy dog.\n\n  indented line\n\ttab line\nThe end: a.b*c [x] $HOME \\n\n',
  ),
  'config.ini': file('# settings\n[main]\nport = 80\nhost=localhost\n; off\n[extra]\nport = 8080\n'),
  'crlf.txt': file('one\r\ntwo\r\nthree\r\n'),
  'no-newline.txt': file('first\nlast'),
  'empty.txt': file(''),
  'long.txt': file(`${'0123456789'.repeat(300)}\nshort\n`),
  'latin.txt': file('caf\xe9\nna\xefve\nplain\ncaf\xe9\n'),
  'bytes.bin': file(everyByte),
  'nul.txt': file('one\0two\0three\0'),
  'utf8.txt': file(utf8('größe\nnaïve\n日本語\nplain\n')),
  'secret.txt': file('private\n', 0o600),
  'locked.txt': file('read only\n', 0o444),
  '.hidden': file('hidden\n'),
  '.config': directory(),
  '.config/settings': file('dark=1\n'),
  empty: directory(),
  docs: directory(),
  'docs/one.md': file('# One\n\nfirst [link](two.md)\n'),
  'docs/two.md': file('# Two\n\nsecond\n'),
  'docs/three.txt': file('third\n'),
  src: directory(),
  'src/main.js': file("import { add } from './util.js'\n// TODO: more\nconsole.log(add(1, 2))\n"),
  'src/util.js': file('export function add(a, b) {\n  return a + b // TODO\n}\n'),
  'src/deep': directory(),
  'src/deep/x.js': file('const x = 1\n'),
  'src/deep/er': directory(),
  'src/deep/er/y.ts': file('const y: number = 2\n'),
  'run.sh': file('#!/bin/sh\necho "ran $# $1"\n', 0o755),
  odd: directory(),
  'odd/with space.txt': file('space\n'),
  'odd/-dash.txt': file('dash\n'),
  "odd/quote'd.txt": file('quote\n'),
  'odd/star*.txt': file('star\n'),
  'odd/new\nline.txt': file('newline\n'),
  'odd/back\\slash.txt': file('backslash\n'),
  'odd/#hash.txt': file('hash\n'),
  'odd/$dollar.txt': file('dollar\n'),
  [utf8('odd/größe.txt')]: file('umlaut\n'),
  'odd/[x].txt': file('brackets\n'),
  links: directory(),
  'links/a': link('../a.txt'),
  'links/docs': link('../docs'),
  'links/dangling': link('nowhere'),
  sizes: directory(),
  'sizes/one-byte': file('x'),
  'sizes/1k': file('k'.repeat(1024)),
  'sizes/1k-and-one': file('k'.repeat(1025)),
  'sizes/100k': file('h'.repeat(102_400)),
}

// Long ago, and a day between two entries: what lists times, or sorts by them, agrees in every copy.
const firstTime = Date.UTC(2024, 2, 4, 5, 6, 7) / 1000
const day = 86_400
const byteOrder = (left: Bytes, right: Bytes) => (left < right ? -1 : 1)
const pathOf = (root: string, path: Bytes) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, 'latin1')])

/** Makes the fixture in an empty directory, and gives it to the owner of commands. */
export function fill(root: string): void {
  const owner = ordinaryOwner()
  const entries = Object.entries(fixture)
  for (const [path, entry] of entries) {
    const at = pathOf(root, path)
    if (entry.type === 'directory') fs.mkdirSync(at)
    else if (entry.type === 'link') fs.symlinkSync(Buffer.from(entry.target, 'latin1'), at)
    else if (entry.type === 'file') fs.writeFileSync(at, Buffer.from(entry.content, 'latin1'))
    if (process.getuid?.() === 0) fs.lchownSync(at, owner.uid, owner.gid)
    if (entry.type !== 'link') fs.chmodSync(at, entry.type === 'other' ? 0 : entry.mode)
  }
  for (const [index, [path]] of entries.entries())
    fs.lutimesSync(pathOf(root, path), firstTime + index * day, firstTime + index * day)
  fs.chmodSync(root, 0o755)
  fs.utimesSync(root, firstTime, firstTime)
}

/** Removes everything in a directory, closed directories too. */
export function empty(root: string | Buffer): void {
  fs.chmodSync(root, 0o755)
  for (const entry of fs.readdirSync(root, { encoding: 'buffer', withFileTypes: true })) {
    const at = Buffer.concat([Buffer.from(root), Buffer.from('/'), entry.name])
    if (!entry.isDirectory()) fs.unlinkSync(at)
    else {
      empty(at)
      fs.rmdirSync(at)
    }
  }
}

/** Everything below a directory. */
export function readTree(root: string): Tree {
  const tree: Record<Bytes, Entry> = {}
  walk(root, (path, at, stat) => {
    const mode = stat.mode & 0o7777
    if (stat.isSymbolicLink()) tree[path] = { type: 'link', target: fs.readlinkSync(at, 'buffer').toString('latin1') }
    else if (stat.isDirectory()) tree[path] = { type: 'directory', mode }
    else if (stat.isFile()) tree[path] = { type: 'file', mode, content: contentOf(at, mode) }
    else tree[path] = { type: 'other', mode }
  })
  return tree
}

function contentOf(at: Buffer, mode: number): Bytes {
  return opened(at, mode, 0o400, () => fs.readFileSync(at).toString('latin1'))
}

/** Does something that a mode may forbid: what a command closed is closed to an ordinary user who runs the tests as well. */
function opened<Result>(at: Buffer, mode: number, needed: number, work: () => Result): Result {
  if ((mode & needed) === needed) return work()
  fs.chmodSync(at, mode | needed)
  try {
    return work()
  } finally {
    fs.chmodSync(at, mode)
  }
}

/** A text that differs as soon as anything below the directory was changed. */
export function stampOf(root: string): string {
  let stamp = String(fs.lstatSync(root).ctimeMs)
  walk(root, (path, _at, { ino, ctimeMs }) => {
    stamp += `${path} ${ino} ${ctimeMs}\n`
  })
  return stamp
}

function walk(root: string, visit: (path: Bytes, at: Buffer, stat: fs.Stats) => void, below: Bytes = ''): void {
  const names = fs.readdirSync(pathOf(root, below), 'buffer').map((name) => name.toString('latin1'))
  for (const name of names.sort(byteOrder)) {
    const path = below === '' ? name : `${below}/${name}`
    const at = pathOf(root, path)
    const stat = fs.lstatSync(at)
    visit(path, at, stat)
    if (stat.isDirectory()) opened(at, stat.mode & 0o7777, 0o500, () => walk(root, visit, path))
  }
}

import { spawnSync } from 'node:child_process'
import { constants } from 'node:fs'

import { type Database, lasting } from '../store/database.ts'
import type { Facts } from './facts.ts'
import { Unexpected } from './restore/place.ts'
import { O_PATH, type Root } from './root.ts'
import type { ScanResult } from './scan-options.ts'

/** Numbers of getxattr(2), setxattr(2) and close(2): Node has no calls for access lists. */
const numbers: Readonly<Record<string, readonly number[]>> = { x64: [191, 188, 3], arm64: [8, 5, 57] }
const [getxattr, setxattr, close] = numbers[process.arch] ?? []
const perl = '/usr/bin/perl'

/** Prints the names of entries that have access lists, with the lists. openat2(2), which is 437, follows no link on the way; ENOSYS is 38. */
const reader = String.raw`
my ($getxattr, $close, $flags) = map { $_ + 0 } @ARGV;
my $how = pack 'QQQ', $flags, 0, 0x0f;
local $/ = "\0";
while (defined(my $name = <STDIN>)) {
  my $fd = syscall(437, 3, $name, $how, 24);
  exit 1 if $fd < 0 and $! == 38;
  next if $fd < 0;
  my @lists = map {
    my $bytes = "\0" x 65536;
    my $size = syscall($getxattr, "/proc/self/fd/$fd\0", "system.posix_acl_$_\0", $bytes, 65536);
    $size > 0 ? ($_, unpack 'H*', substr $bytes, 0, $size) : ();
  } 'access', 'default';
  syscall($close, $fd);
  print $name, "@lists\0" if @lists;
}`
const writer = String.raw`
my ($setxattr, %lists) = @ARGV;
my $self = "/proc/self/fd/3\0";
for (keys %lists) {
  my $bytes = pack 'H*', $lists{$_};
  syscall($setxattr + 0, $self, "system.posix_acl_$_\0", $bytes, length $bytes, 0) == 0 or exit 1;
}`

/** In place of a path: the lists of the tree have been looked at. */
const ever = ''

/** The access lists of a tree, as pairs of kind and bytes: `access 0200…`. Those of its latest scan count for a state that lasts. */
export class Lists {
  readonly #tree: number
  readonly #database: Database

  constructor(tree: number, database: Database) {
    this.#tree = tree
    this.#database = database
  }

  /** Saves the lists of entries that a scan found changed. Answers the root where they cannot be looked at. */
  note(root: Root, changed: ReadonlyMap<string, Facts>, live: ReadonlyMap<string, Facts>): ScanResult['leftOut'] {
    const all = this.#database.all<{ path: string }>('SELECT DISTINCT path FROM lists WHERE tree = ?', this.#tree)
    const known = new Set(all.map(({ path }) => path))
    // an index of an earlier version has no lists at all
    const looked = known.has(ever) ? changed : new Map([...live, ...changed])
    const paths = [...looked].flatMap(([path, { type }]) => (type === 'symlink' ? [] : [path]))
    if (paths.length === 0) return []
    const names = paths.map((path) => `${path.slice(1) || '.'}\0`).join('')
    const flags = O_PATH | constants.O_NOFOLLOW
    const { status, stdout } = spawnSync(perl, ['-e', reader, ...[getxattr, close, flags].map(String)], {
      input: names,
      stdio: ['pipe', 'pipe', 'ignore', root.fd],
      env: {},
      encoding: 'utf8',
      maxBuffer: Infinity,
    })
    if (getxattr === undefined || status !== 0) {
      // the next look is at all entries again
      this.#database.run('DELETE FROM lists WHERE tree = ? AND path = ?', this.#tree, ever)
      return [{ path: '/', reason: 'access lists cannot be looked at here' }]
    }
    const found = stdout.split('\0')
    const lists = new Map(found.flatMap((name, index) => (index % 2 === 0 ? [[name, found[index + 1]]] : [])))
    this.#database.run('INSERT OR IGNORE INTO lists VALUES (?, ?, 0, ?)', this.#tree, ever, '')
    for (const path of paths) {
      const list = lists.get(path.slice(1) || '.') ?? ''
      if (list === '' && !known.has(path)) continue
      const state = 'SELECT tree, path, first, ? FROM entries WHERE tree = ? AND path = ? AND last = ?'
      this.#database.run(`INSERT OR REPLACE INTO lists ${state}`, list, this.#tree, path, lasting)
    }
    this.#database.run(
      `DELETE FROM lists WHERE path <> ? AND NOT EXISTS (SELECT 1 FROM entries
        WHERE entries.tree = lists.tree AND entries.path = lists.path AND entries.first = lists.first)`,
      ever,
    )
    return []
  }

  /** The lists of the state that held at a turn. */
  at(turn: number, path: string): string | undefined {
    return this.#database.get<{ list: string }>(
      'SELECT list FROM lists JOIN entries USING (tree, path, first) WHERE tree = ? AND path = ? AND first <= ? AND last > ?',
      ...[this.#tree, path, turn, turn],
    )?.list
  }
}

/** Gives an entry that is open its lists. @throws Unexpected */
export function giveLists(fd: number, lists: string | undefined): void {
  if (lists === undefined || lists === '') return
  const { status } = spawnSync(perl, ['-e', writer, String(setxattr), ...lists.split(' ')], {
    stdio: ['ignore', 'ignore', 'ignore', fd],
    env: {},
  })
  if (status !== 0) throw new Unexpected('its access list cannot be restored')
}

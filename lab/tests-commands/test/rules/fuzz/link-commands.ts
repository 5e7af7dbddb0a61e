import { symlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CommandResult } from '@ws/core'
import { makeDirectory } from '@ws/test-fixtures'
import type { ScratchDirectory } from '@ws/test-fixtures'
import { makeFiles } from './disk.ts'
import type { Attempt } from './link-attempts.ts'
import { denials } from './link-oracle.ts'
import { rootOf, type LinkSet, type LinkTree } from './link-trees.ts'
import type { Names } from './model.ts'
import { same, within } from './model.ts'

/** Tries each operation of its input, undoes what it did, and prints how it went. */
export const probe = String.raw`
use strict; use Fcntl; use Cwd; use Errno;
my ($home) = @ARGV;
sub tried { my ($done) = @_; return 'done' if $done; for my $name (keys %!) { return $name if $!{$name} } return 'failed' }
while (my $line = <STDIN>) {
  chomp $line;
  my ($operation, $p) = split /\t/, $line;
  my $told = 'none';
  if ($operation eq 'write' || $operation eq 'append') {
    my $was = -e $p;
    $told = tried(sysopen(my $file, $p, O_WRONLY | O_CREAT | ($operation eq 'append' ? O_APPEND : 0)));
    unlink Cwd::abs_path($p) if $told eq 'done' && !$was;
  } elsif ($operation eq 'chmod' || $operation eq 'utimes') {
    if (my @s = stat $p) { $told = tried($operation eq 'chmod' ? chmod($s[2] & 07777, $p) : utime($s[8], $s[9], $p)) }
  } elsif ($operation eq 'createDirectory') {
    $told = tried(mkdir $p); rmdir $p if $told eq 'done';
  } elsif ($operation eq 'createSymlink') {
    $told = tried(symlink 'x', $p); unlink $p if $told eq 'done';
  } elsif ($operation eq 'delete') {
    my $target = readlink $p;
    $told = tried(unlink $p);
    if ($told eq 'done') { if (defined $target) { symlink $target, $p } else { open my $file, '>', $p } }
  } elsif ($operation eq 'moveAway') {
    $told = tried(rename $p, "$home/away.txt"); rename "$home/away.txt", $p if $told eq 'done';
  }
  print "$told\n";
}
`

export async function makeLinks(set: LinkSet, scratch: ScratchDirectory): Promise<void> {
  await makeFiles(set, scratch)
  await mkdir(join(scratch.path, 'project'), { recursive: true })
  for (const [path, target] of Object.entries(set.links)) {
    const at = join(scratch.path, 'project', path)
    await makeDirectory(dirname(at))
    symlinkSync(target, at)
  }
}

/** The names that rules are about and that run through a link, with the place where each of them leads. */
export function ruledNames(set: LinkSet, tree: LinkTree): { readonly name: Names; readonly landed: Names }[] {
  const names = new Map<string, Names>()
  const add = (path: Names): void => void names.set(path.join('/'), path)
  for (const path of tree.paths) add(path)
  for (const rule of set.rules) if (rule.kind === 'entries') for (const { at } of rule.entries) add(at)
  for (let depth = 0; depth < 3; depth += 1) {
    for (const path of [...names.values()]) {
      const { hops, landed, state } = tree.way(path, true)
      if (hops.length > 0 && state === 'directory') for (const name of tree.in(landed)) add([...path, name])
    }
    if (names.size > 3000) break
  }
  return [...names.values()].flatMap((name) => {
    const { hops, landed } = tree.way(name, true)
    const isNamed = denials(set, name, 'write').some(
      // A look-alike has no name in the rule.
      ({ rule, named }) => rule !== 'mount' && (named === undefined || same(named, name)),
    )
    return hops.length > 0 && isNamed ? [{ name, landed }] : []
  })
}

export interface Expected {
  readonly must: boolean
  readonly free: boolean
  /** A name that is not held: where the operation was done, the result has to say so. */
  readonly reported?: Names | undefined
}

/** The answer of the model for commands: some names cannot be held, and more places are covered. */
export function expectIn(
  set: LinkSet,
  tree: LinkTree,
  { path: text, must, freeInShell, judgement }: Attempt,
  covered: ReturnType<typeof ruledNames>,
): Expected {
  const path = text.slice(1).split('/')
  const { way, named } = judgement
  const passed = [way.landed, way.landed.slice(0, -1), ...way.hops.map(({ link }) => link)]
  const inCover = covered.some(({ landed }) => passed.some((one) => within(one, landed)))
  const free = freeInShell && !inCover
  if (!must) return { must, free }
  if (named !== undefined) {
    // The link itself cannot be held.
    if (way.state === 'link' && same(tree.way(named, false).landed, way.landed)) return { must: false, free }
    const { hops, landed, state } = tree.way(named, true)
    // Another link leads on from there.
    if (!within(way.landed, landed)) return { must: false, free }
    const root = rootOf(set)
    const mount = set.readOnlyMount
    const holds =
      hops.some(({ link }) => within(link, landed)) ||
      within(root, landed) ||
      (mount !== undefined && within(mount, landed))
    if (state === 'directory' && holds) return { must: false, free, reported: named }
    if (state === 'foreign') return { must: false, free }
    // Rules by pattern hold for what exists; the names of others are kept free.
    const isKept =
      state === 'missing' &&
      denials(set, named, 'write').some(({ rule }) => rule !== 'mount' && rule.kind === 'entries')
    return { must: isThere(tree, named) || isKept, free }
  }
  // A link in a part that may be read can be passed.
  const closed = way.hops.flatMap((hop) => denials(set, hop.path, 'read', false))
  const found = [...closed, ...denials(set, way.landed, 'write', false)]
  const held = found.filter((one) => {
    if (one.rule === 'mount') return true
    if (way.state === 'link' && one.named !== undefined && same(one.named, way.landed)) return false
    return one.named !== undefined && (one.rule.kind !== 'pattern' || isThere(tree, one.named))
  })
  return { must: held.length > 0 && path.length > 0, free }
}

function isThere(tree: LinkTree, path: Names): boolean {
  return !['missing', 'nowhere', 'foreign'].includes(tree.way(path, false).state)
}

/** The result reports the name, or another one that leads to the same place. */
export function isReported({ violations = [] }: CommandResult, tree: LinkTree, name: Names): boolean {
  const { landed } = tree.way(name, true)
  return violations.some(
    ({ kind, path = '' }) => kind === 'link' && same(tree.way(path.slice(1).split('/'), true).landed, landed),
  )
}

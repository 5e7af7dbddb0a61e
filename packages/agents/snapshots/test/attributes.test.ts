import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { factsOf, Root } from '@ws/tree/disk'

import { describe, expect, it } from 'vitest'

import { Attributes } from '../src/disk/attributes.ts'
import { lasting, openIndex } from '../src/store/open-index.ts'
import { ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

const numbers = process.arch === 'arm64' ? [5, 8] : [188, 191]

/** Runs a call on an access list: there may be no setfacl. */
function perl(script: string, ...args: readonly string[]): string {
  return execFileSync('/usr/bin/perl', ['-e', script, ...numbers.map(String), ...args], { encoding: 'utf8' })
}

function setList(
  path: string,
  kind: 'access' | 'default',
  entries: readonly (readonly [number, number, number])[],
): void {
  const list = Buffer.alloc(4 + entries.length * 8)
  list.writeUInt32LE(2, 0)
  for (const [index, [tag, bits, id]] of entries.entries()) {
    list.writeUInt16LE(tag, 4 + index * 8)
    list.writeUInt16LE(bits, 6 + index * 8)
    list.writeUInt32LE(id, 8 + index * 8)
  }
  setAttribute(path, `system.posix_acl_${kind}`, list.toString('hex'))
}

function setAttribute(path: string, name: string, hex: string): void {
  perl(
    String.raw`my ($set, $get, $path, $name, $hex) = @ARGV; my $b = pack 'H*', $hex;
      syscall($set + 0, "$path\0", "$name\0", $b, length $b, 0) == 0 or die $!`,
    ...[path, name, hex],
  )
}

function listOf(path: string, kind: 'access' | 'default' = 'access'): string {
  return attributeOf(path, `system.posix_acl_${kind}`) ?? ''
}

/** In hex; `undefined` where there is no such attribute. */
function attributeOf(path: string, name: string): string | undefined {
  const found = perl(
    String.raw`my ($set, $get, $path, $name) = @ARGV; my $b = "\0" x 4096;
      my $n = syscall($get + 0, "$path\0", "$name\0", $b, 4096); print $n >= 0 ? unpack('H*', substr $b, 0, $n) : '-'`,
    ...[path, name],
  )
  return found === '-' ? undefined : found
}

const anyone = 0xff_ff_ff_ff
/** The owner has all rights, the group 65534 has none, and others read. */
const denied = [
  [0x01, 7, anyone],
  [0x04, 4, anyone],
  [0x08, 0, 65_534],
  [0x10, 4, anyone],
  [0x20, 4, anyone],
] as const

/** Bits that a restore alone must not give: the mask of a list is where a group's bits are. */
async function listed(options = {}) {
  const site = await siteOf(options)
  const at = (name: string): string => join(site.root, name)
  mkdirSync(at('d'))
  for (const name of ['edited', 'deleted', 'replaced', 'd/deep', 'plain']) writeFileSync(at(name), 'first\n')
  for (const name of ['edited', 'deleted', 'replaced', 'd', 'd/deep']) setList(at(name), 'access', denied)
  setList(at('d'), 'default', denied)
  return { ...site, at }
}

/** The disk of the tests keeps lists, and there is a perl to set them. */
function keepsLists(): boolean {
  if (!existsSync('/usr/bin/perl')) return false
  const directory = mkdtempSync(join(tmpdir(), 'ws-lists-'))
  try {
    setList(directory, 'access', denied)
    return true
  } catch {
    return false
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const hexOf = (text: string): string => Buffer.from(text).toString('hex')

describe.skipIf(!keepsLists())('[UN3] access lists and attributes', () => {
  it('of users come back with a file that was deleted, whatever their names and bytes', async () => {
    const { workspace, at } = await listed()
    const attributes = { 'user.a b': '00ff0a', 'user.größe': '' }
    for (const [name, hex] of Object.entries(attributes)) setAttribute(at('plain'), name, hex)
    const { id } = await workspace.checkpoint()
    rmSync(at('plain'))
    expect((await workspace.restore(id)).kept).toEqual([])
    for (const [name, hex] of Object.entries(attributes)) expect(attributeOf(at('plain'), name)).toBe(hex)
  })

  it('come back with each file and directory that a restore makes, and by its undo', async () => {
    const { workspace, at } = await listed()
    const names = ['edited', 'deleted', 'replaced', 'd', 'd/deep']
    const lists = names.map((name) => listOf(at(name)))
    const modes = names.map((name) => statSync(at(name)).mode)
    const fallback = listOf(at('d'), 'default')
    expect(lists.every((list) => list !== '')).toBe(true)
    const { id, leftOut } = await workspace.checkpoint()
    expect(leftOut).toEqual([])
    await workspace.write('/edited', 'second\n')
    rmSync(at('deleted'))
    rmSync(at('replaced'))
    writeFileSync(at('replaced'), 'other\n')
    setList(at('replaced'), 'access', [...denied.slice(0, 2), [0x08, 4, 65_533], ...denied.slice(3)])
    const later = listOf(at('replaced'))
    await workspace.write('/plain', 'second\n')
    rmSync(at('d'), { recursive: true })
    const { kept, undo } = await workspace.restore(id)
    expect(kept).toEqual([])
    expect(names.map((name) => listOf(at(name)))).toEqual(lists)
    expect(names.map((name) => statSync(at(name)).mode)).toEqual(modes)
    expect(listOf(at('d'), 'default')).toBe(fallback)
    expect(listOf(at('plain'))).toBe('')
    expect(readFileSync(at('edited'), 'utf8')).toBe('first\n')
    await workspace.restore(undo ?? '')
    expect(listOf(at('replaced'))).toBe(later)
  })

  it('that were set between two looks, and in a state directory from before attributes, are saved too', {
    tags: 'deep',
  }, async () => {
    const stateDirectory = join(await ownDirectory(), 'kept')
    const first = await listed({ stateDirectory })
    await first.workspace.checkpoint()
    await first.workspace.close()
    const database = openIndex(stateDirectory)
    database.run('DELETE FROM attributes')
    database.close()
    setList(first.at('plain'), 'access', denied)
    const { workspace } = await siteOf({ root: first.root, stateDirectory })
    const { id } = await workspace.checkpoint()
    for (const name of ['edited', 'plain']) rmSync(first.at(name))
    expect((await workspace.restore(id)).kept).toEqual([])
    expect(listOf(first.at('edited'))).toBe(listOf(first.at('deleted')))
    expect(listOf(first.at('plain'))).toBe(listOf(first.at('deleted')))
  })

  it('are never read through a link', async () => {
    const { root: outside, at } = await listed()
    const { root: path } = await siteOf({})
    symlinkSync(outside, join(path, 'link'))
    writeFileSync(join(path, 'own'), '')
    setList(join(path, 'own'), 'access', denied)
    const database = openIndex(undefined)
    const root = new Root(path)
    const facts = { ...factsOf(statSync(at('edited')), 'file', '1'), unsettled: false }
    const changed = new Map([
      ['/link/edited', facts],
      ['/own', facts],
    ])
    for (const name of changed.keys()) {
      const columns = 'tree, path, first, last, type, size, mode, uid, gid, mtime, ctime, ino, birth, unsettled'
      database.run(`INSERT INTO entries (${columns}) VALUES (1,?,1,?,0,0,0,0,0,0,0,'1',0,0)`, name, lasting)
    }
    const attributes = new Attributes(1, database)
    expect(attributes.note(root, changed, new Map())).toEqual([])
    expect([attributes.at(1, '/link/edited'), attributes.at(1, '/own')]).toEqual([
      undefined,
      `${hexOf('system.posix_acl_access')} ${listOf(at('edited'))}.`,
    ])
    root.close()
    database.close()
  })

  it('that cannot be given back leave the file out, by name', async () => {
    const stateDirectory = join(await ownDirectory(), 'kept')
    const first = await listed({ stateDirectory })
    const { id } = await first.workspace.checkpoint()
    await first.workspace.close()
    const database = openIndex(stateDirectory)
    database.run(`UPDATE attributes SET value = '${hexOf('system.posix_acl_access')} 09.' WHERE path = '/deleted'`)
    database.close()
    rmSync(first.at('deleted'))
    rmSync(first.at('plain'))
    const { workspace } = await siteOf({ root: first.root, stateDirectory })
    const { kept } = await workspace.restore(id)
    expect(kept).toEqual([{ path: '/deleted', reason: 'its access list or attributes cannot be restored' }])
    expect(await workspace.exists('/deleted')).toBe(false)
    expect(await workspace.exists('/plain')).toBe(true)
  })
})

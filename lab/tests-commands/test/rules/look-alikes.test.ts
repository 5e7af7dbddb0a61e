/** @module-tag all */
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { codeOf, component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { doors, openSite } from '../doors/site.ts'

const denied = [rules.deny('secret'), rules.deny('deep/down/key')]
const files = { secret: 'SECRET', 'deep/down/key': 'KEY', 'deep/other': 'other' }

/** Entries that one command can make beside a denied one. None of it may keep the next one from running. */
const hostile: Readonly<Record<string, string>> = {
  'a link to a directory': 'ln -s /tmp SECRET',
  'a link to the denied name': 'ln -s secret SECRET',
  'a dangling link': 'ln -s nowhere Secret',
  'a link to itself': 'ln -s SECRET SECRET',
  'a FIFO': 'mkfifo SECRET',
  'a socket': `perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => "SECRET", Listen => 1) or die $!'`,
  'a file': 'echo x > SECRET',
  'a directory': 'mkdir -p SECRET/a/b',
  'a closed directory': 'mkdir -m 000 SECRET',
  'a link on the way': 'ln -s deep DEEP',
  'a loop on the way': 'mkdir DEEP && ln -s . DEEP/down && ln -s .. DEEP/Down',
  'a closed directory on the way': 'mkdir DEEP && mkdir -m 000 DEEP/down',
  'a file on the way': 'echo x > DEEP',
  'a FIFO on the way': 'mkfifo DEEP',
  'links below a look-alike': 'mkdir -p DEEP/DOWN && ln -s /tmp DEEP/DOWN/KEY && mkfifo DEEP/DOWN/Key',
}

for (const door of doors)
  describe(`look-alikes of denied names, ${door.name}`, { tags: [...door.tags] }, () => {
    describeWith([...door.components, 'perl' as const].map(component), 'that a command makes', () => {
      it.each(Object.entries(hostile))(
        '[RU2] %s does not keep the next command from running',
        async (_what, command) => {
          await using site = await openSite({ root: door.root, executor: door.create(), files, rules: () => denied })
          await site.run(command)
          expect((await site.attempt('echo runs; cat secret deep/down/key')).stdout).toBe('runs\n')
          // Its owner has to open it first: the system lets no other user look into it.
          for (const name of ['SECRET', 'DEEP/down']) {
            if (command.endsWith(`mkdir -m 000 ${name}`)) await chmod(join(site.directory, name), 0o755)
          }
          const names = ['SECRET', 'Secret', 'DEEP'].filter((name) => command.includes(name))
          for (const name of names) {
            expect(await codeOf(site.workspace.delete(name, { recursive: true, force: true })), name).toBe('done')
          }
          expect((await site.attempt('ls')).stdout).toBe('deep\nfile.txt\nsecret\n')
          expect((await site.attempt('echo runs; cat secret deep/down/key')).stdout).toBe('runs\n')
        },
      )

      it('[RU2] so many that no command could cover them are named, and can be removed', async () => {
        const rule = rules.deny('credentials')
        await using site = await openSite({
          root: door.root,
          executor: door.create(),
          files: { credentials: 'SECRET' },
          rules: () => [rule],
        })
        await site.run('for i in {C,c}{R,r}{E,e}{D,d}{E,e}{N,n}{T,t}{I,i}als; do echo x > $i; done; true')
        await expect(site.attempt('true')).rejects.toThrow(
          /more than 200 other spellings.*delete them through the file API/,
        )
        const names = (await Array.fromAsync(site.workspace.list('.'))).map(({ name }) => name)
        for (const name of names.filter((one) => /^cred/i.test(one) && one !== 'credentials')) {
          await site.workspace.delete(name)
        }
        expect((await site.attempt('cat credentials; echo runs')).stdout).toBe('runs\n')
      })

      it('[RU2] a link at the place of a directory on the way can be removed', async () => {
        await using site = await openSite({ root: door.root, executor: door.create(), rules: () => denied })
        await site.workspace.createSymlink('deep', 'file.txt')
        await site.workspace.delete('deep', { recursive: true })
        await site.workspace.createSymlink('deep', 'file.txt')
        await site.workspace.move('deep', 'elsewhere')
        expect(await site.workspace.readSymlink('elsewhere')).toBe('file.txt')
      })
    })
  })

describe('look-alikes of denied names at the file API', () => {
  it('[RU2] are denied, and links of such a name can be moved and removed', async () => {
    const adapter = createMemoryAdapter({
      files: { '/secret': 's', '/SECRET': 'S', '/deep/down/key': 'k', '/DEEP/x': 'x' },
    })
    await adapter.createSymlink?.('/Secret' as never, 'secret')
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], rules: denied })
    expect(await codeOf(workspace.read('/SECRET'))).toBe('EACCES')
    expect(await codeOf(workspace.readSymlink('/Secret'))).toBe('EACCES')
    expect(await codeOf(workspace.move('/SECRET', '/open'))).toBe('EACCES')
    expect(await codeOf(workspace.copy('/Secret', '/open'))).toBe('EACCES')
    expect(await codeOf(workspace.move('/DEEP', '/open'))).toBe('EACCES')
    await workspace.move('/Secret', '/link')
    expect(await workspace.readSymlink('/link')).toBe('secret')
    expect(await codeOf(workspace.read('/link'))).toBe('EACCES')
    await workspace.delete('/SECRET')
    await workspace.delete('/DEEP', { recursive: true })
    for (const path of ['/secret', '/deep', '/deep/down']) {
      expect(await codeOf(workspace.delete(path, { recursive: true })), path).toBe('EACCES')
    }
    await workspace.close()
  })

  it('[RU2] are the denied names themselves where storage folds case', async () => {
    const adapter = createMemoryAdapter({ files: { '/secret': 's' } })
    const capabilities = { ...adapter.capabilities, caseSensitive: false }
    const stat = adapter.stat.bind(adapter)
    const folding: typeof adapter = Object.create(adapter, {
      capabilities: { value: capabilities },
      stat: { value: stat },
    })
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: folding }], rules: denied })
    for (const path of ['/SECRET', '/secret', '/DEEP']) {
      expect(await codeOf(workspace.delete(path, { recursive: true })), path).toBe('EACCES')
      expect(await codeOf(workspace.move(path, '/open')), path).toBe('EACCES')
    }
    await workspace.close()
  })
})

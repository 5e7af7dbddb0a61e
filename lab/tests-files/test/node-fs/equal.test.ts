import real from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createNodeFs } from '@ws/core/node-fs'
import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

type Step = (fs: typeof real, at: (path: string) => string) => Promise<unknown>

const aborted = AbortSignal.abort()

/** Each begins in a tree of its own: the file `a`, the directory `d` with the file `f`, the link `l` to `a`. */
const steps: Readonly<Record<string, Step>> = {
  'reads bytes': async (fs, at) => await fs.readFile(at('a')),
  'reads text': async (fs, at) => await fs.readFile(at('a'), 'utf8'),
  'reads text in hex': async (fs, at) => await fs.readFile(at('a'), { encoding: 'hex' }),
  'reads through a link': async (fs, at) => await fs.readFile(at('l'), 'utf8'),
  'reads a directory': async (fs, at) => await fs.readFile(at('d')),
  'reads what is missing': async (fs, at) => await fs.readFile(at('none')),
  'reads below a file': async (fs, at) => await fs.readFile(at('a/b')),
  'reads a file with a slash': async (fs, at) => await fs.readFile(at('a/')),
  'reads a loop': async (fs, at) => {
    await fs.symlink('two', at('one'))
    await fs.symlink('one', at('two'))
    await fs.readFile(at('one'))
  },
  'reads an encoding that is unknown': async (fs, at) => await fs.readFile(at('a'), 'none' as BufferEncoding),
  'reads a path with NUL': async (fs) => await fs.readFile('a\0b'),
  'reads an empty path': async (fs) => await fs.readFile(''),
  'reads a path of another type': async (fs) => await fs.readFile({} as string),
  'reads a name that is too long': async (fs) => await fs.readFile(`/${'x'.repeat(300)}`),
  'reads after an abort': async (fs, at) => await fs.readFile(at('a'), { signal: aborted }),
  writes: async (fs, at) => [await fs.writeFile(at('n'), 'ä'), await fs.readFile(at('n'))],
  'writes in latin1': async (fs, at) => [await fs.writeFile(at('n'), 'ä', 'latin1'), await fs.readFile(at('n'))],
  'writes chunks': async (fs, at) => [await fs.writeFile(at('n'), ['x', 'y']), await fs.readFile(at('n'), 'utf8')],
  'writes a view': async (fs, at) => [await fs.writeFile(at('n'), new Uint16Array([1, 2])), await fs.readFile(at('n'))],
  'writes through a link': async (fs, at) => [await fs.writeFile(at('l'), 'n'), await fs.readFile(at('a'), 'utf8')],
  'writes through a link that leads to nothing': async (fs, at) => {
    await fs.symlink('new', at('dangling'))
    await fs.writeFile(at('dangling'), 'z')
    return await fs.readFile(at('new'), 'utf8')
  },
  'writes over a directory': async (fs, at) => await fs.writeFile(at('d'), 'x'),
  'writes where there is no directory': async (fs, at) => await fs.writeFile(at('none/x'), 'x'),
  'writes what is there, exclusively': async (fs, at) => await fs.writeFile(at('l'), 'x', { flag: 'wx' }),
  'writes a number': async (fs, at) => await fs.writeFile(at('n'), 3 as unknown as string),
  'writes after an abort': async (fs, at) => await fs.writeFile(at('n'), 'x', { signal: aborted }),
  appends: async (fs, at) => [await fs.appendFile(at('a'), 'b'), await fs.readFile(at('a'), 'utf8')],
  'appends to what is missing': async (fs, at) => [
    await fs.appendFile(at('n'), 'b'),
    await fs.readFile(at('n'), 'utf8'),
  ],
  'appends to a directory': async (fs, at) => await fs.appendFile(at('d'), 'x'),
  'lists names': async (fs, at) => (await fs.readdir(at('.'))).toSorted(),
  'lists a tree': async (fs, at) => (await fs.readdir(at('.'), { recursive: true })).toSorted(),
  'lists types': async (fs, at) => {
    const found = await fs.readdir(at('.'), { withFileTypes: true, recursive: true })
    const shown = found.map((one) => `${join(one.parentPath, one.name)} ${one.isFile()} ${one.isSymbolicLink()}`)
    return shown.map((one) => one.replace(at(''), '/')).toSorted()
  },
  'lists names as bytes': async (fs, at) => (await fs.readdir(at('d'), 'buffer')).map((name) => name.toString('hex')),
  'lists a file': async (fs, at) => await fs.readdir(at('a')),
  'lists what is missing': async (fs, at) => await fs.readdir(at('none')),
  'tells types and sizes': async (fs, at) => {
    const shown: unknown[] = []
    for (const one of [
      await fs.stat(at('l')),
      await fs.lstat(at('l')),
      await fs.stat(at('d')),
      await fs.lstat(at('a')),
    ])
      shown.push([one.isFile(), one.isDirectory(), one.isSymbolicLink(), one.mode.toString(8)])
    return [shown, (await fs.stat(at('a'))).size]
  },
  'tells what is missing': async (fs, at) => await fs.lstat(at('none')),
  'tells a file with a slash': async (fs, at) => await fs.stat(at('a/')),
  'makes a directory': async (fs, at) => [await fs.mkdir(at('n')), await fs.readdir(at('n'))],
  'makes a directory with bits': async (fs, at) => {
    await fs.mkdir(at('n'), { mode: 0o700 })
    return (await fs.stat(at('n'))).mode.toString(8)
  },
  'makes directories': async (fs, at) => (await fs.mkdir(at('n/m/o'), { recursive: true }))?.replace(at(''), ''),
  'makes directories that are there': async (fs, at) => await fs.mkdir(at('d'), { recursive: true }),
  'makes a directory that is there': async (fs, at) => await fs.mkdir(at('d')),
  'makes a directory over a link': async (fs, at) => await fs.mkdir(at('l')),
  'makes directories over a file': async (fs, at) => await fs.mkdir(at('a'), { recursive: true }),
  'makes directories below a file': async (fs, at) => await fs.mkdir(at('a/b/c'), { recursive: true }),
  'makes a directory where there is none above': async (fs, at) => await fs.mkdir(at('none/x')),
  'makes a directory of its own': async (fs, at) => {
    const made = await fs.mkdtemp(at('tmp-'))
    return [made.length - at('tmp-').length, (await fs.stat(made)).isDirectory()]
  },
  'makes a directory of its own where there is none above': async (fs, at) => {
    const { code, message } = (await fs
      .mkdtemp(at('none/tmp-'))
      .catch((error: NodeJS.ErrnoException) => error)) as NodeJS.ErrnoException
    return [code, message.slice(0, message.indexOf("'"))]
  },
  'removes a directory': async (fs, at) => {
    await fs.rm(at('d/f'))
    await fs.rmdir(at('d'))
    return (await fs.readdir(at('.'))).toSorted()
  },
  'removes a directory that is not empty': async (fs, at) => await fs.rmdir(at('d')),
  'removes a file as a directory': async (fs, at) => await fs.rmdir(at('a')),
  'removes a link as a directory': async (fs, at) => await fs.rmdir(at('l')),
  'removes a link': async (fs, at) => [await fs.unlink(at('l')), (await fs.readdir(at('.'))).toSorted()],
  'removes a directory as a file': async (fs, at) => await fs.unlink(at('d')),
  'removes what is missing': async (fs, at) => await fs.unlink(at('none')),
  'removes a tree': async (fs, at) => [
    await fs.rm(at('d'), { recursive: true }),
    (await fs.readdir(at('.'))).toSorted(),
  ],
  'removes a tree without saying so': async (fs, at) => await fs.rm(at('d')),
  'removes what is missing, by rm': async (fs, at) => await fs.rm(at('none')),
  'removes what is missing, by force': async (fs, at) => await fs.rm(at('none'), { force: true }),
  'removes below a file, by force': async (fs, at) => await fs.rm(at('a/x'), { force: true }),
  renames: async (fs, at) => [await fs.rename(at('d'), at('e')), (await fs.readdir(at('.'))).toSorted()],
  'renames over a file': async (fs, at) => [await fs.rename(at('d/f'), at('a')), await fs.readFile(at('a'), 'utf8')],
  'renames to itself': async (fs, at) => await fs.rename(at('a'), at('a')),
  'renames what is missing': async (fs, at) => await fs.rename(at('none'), at('x')),
  'renames to where there is no directory': async (fs, at) => await fs.rename(at('a'), at('none/x')),
  'renames a file over a directory': async (fs, at) => await fs.rename(at('a'), at('d')),
  'renames a directory over a file': async (fs, at) => await fs.rename(at('d'), at('a')),
  'renames a directory over one that is not empty': async (fs, at) => {
    await fs.mkdir(at('e'))
    await fs.rename(at('e'), at('d'))
  },
  'renames a directory into itself': async (fs, at) => await fs.rename(at('d'), at('d/x')),
  'copies a file': async (fs, at) => [await fs.copyFile(at('l'), at('n')), (await fs.lstat(at('n'))).isFile()],
  'copies over a link': async (fs, at) => [await fs.copyFile(at('d/f'), at('l')), await fs.readFile(at('a'), 'utf8')],
  'copies a directory as a file': async (fs, at) => await fs.copyFile(at('d'), at('x')),
  'copies over a directory': async (fs, at) => await fs.copyFile(at('a'), at('d')),
  'copies over what is there, exclusively': async (fs, at) => await fs.copyFile(at('a'), at('d/f'), 1),
  'copies what is missing': async (fs, at) => await fs.copyFile(at('none'), at('x')),
  'copies to where there is no directory': async (fs, at) => await fs.copyFile(at('a'), at('none/x')),
  'copies a tree': async (fs, at) => {
    await fs.cp(at('d'), at('n/m'), { recursive: true })
    return [await fs.readdir(at('n/m')), await fs.readFile(at('n/m/f'), 'utf8')]
  },
  'copies a tree with a link': async (fs, at) => {
    await fs.symlink('f', at('d/l'))
    await fs.cp(at('d'), at('n'), { recursive: true })
    return [(await fs.readlink(at('n/l'))).replace(at(''), '/'), await fs.readFile(at('n/l'), 'utf8')]
  },
  'copies a link over a link': async (fs, at) => {
    await fs.cp(at('l'), at('m'))
    await fs.cp(at('l'), at('m'))
    return (await fs.readlink(at('m'))).replace(at(''), '/')
  },
  'copies what a filter lets pass': async (fs, at) => {
    await fs.cp(at('d'), at('n'), { recursive: true, filter: (source) => !source.endsWith('f') })
    return await fs.readdir(at('n'))
  },
  'copies a tree without saying so': async (fs, at) => await fs.cp(at('d'), at('x')),
  'copies a tree that is missing': async (fs, at) => await fs.cp(at('none'), at('x')),
  'copies a tree over what is there': async (fs, at) => {
    await fs.cp(at('a'), at('d/f'), { force: false, errorOnExist: true })
  },
  'copies a tree into itself': async (fs, at) => await fs.cp(at('d'), at('d/x'), { recursive: true }),
  'copies a tree, a file over a directory': async (fs, at) => await fs.cp(at('a'), at('d')),
  'copies a tree over a file': async (fs, at) => await fs.cp(at('d'), at('a'), { recursive: true }),
  'makes a link': async (fs, at) => [
    await fs.symlink('d/f', at('n')),
    await fs.readlink(at('n')),
    await fs.readFile(at('n'), 'utf8'),
  ],
  'makes a link over a file': async (fs, at) => await fs.symlink('x', at('a')),
  'makes a link where there is no directory': async (fs, at) => await fs.symlink('x', at('none/l')),
  'reads a file as a link': async (fs, at) => await fs.readlink(at('a')),
  'finds the real path': async (fs, at) => (await fs.realpath(at('l'))).replace(at(''), ''),
  'finds the real path of what is missing': async (fs, at) => await fs.realpath(at('none')),
  'asks for access': async (fs, at) => await fs.access(at('a'), 6),
  'asks for access to what is missing': async (fs, at) => await fs.access(at('none')),
  'asks to run what is no program': async (fs, at) => await fs.access(at('a'), 1),
  'sets bits': async (fs, at) => [await fs.chmod(at('a'), 0o600), (await fs.stat(at('a'))).mode.toString(8)],
  'sets bits of what is missing': async (fs, at) => await fs.chmod(at('none'), 0o600),
  'sets times': async (fs, at) => [await fs.utimes(at('a'), 1, new Date(2_000)), (await fs.stat(at('a'))).mtimeMs],
  'sets times of another type': async (fs, at) => await fs.utimes(at('a'), 1, 'x'),
  'opens, reads and writes': async (fs, at) => {
    const file = await fs.open(at('a'), 'r+')
    const { bytesRead, buffer } = await file.read(Buffer.alloc(4), 1, 3, 0)
    const { bytesWritten } = await file.write('ZZ', 4)
    await file.write(Buffer.from('xyz'), 1, 2)
    const { size } = await file.stat()
    await file.close()
    return [bytesRead, buffer, bytesWritten, size, await fs.readFile(at('a'))]
  },
  'opens to append': async (fs, at) => {
    const file = await fs.open(at('n'), 'a+')
    for (const part of ['one', 'two']) await file.appendFile(part)
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(9), position: 0 })
    await file.close()
    return [bytesRead, buffer]
  },
  'opens what is there, exclusively': async (fs, at) => await fs.open(at('a'), 'wx'),
  'opens by unknown flags': async (fs, at) => await fs.open(at('a'), 'zz'),
  'opens what is missing': async (fs, at) => await fs.open(at('none')),
  'opens a directory to write': async (fs, at) => await fs.open(at('d'), 'w'),
  'writes to a file that is open to read': async (fs, at) => {
    await using file = await fs.open(at('a'))
    await file.write('x')
  },
  'reads a file that is open to write': async (fs, at) => {
    await using file = await fs.open(at('n'), 'w')
    await file.read()
  },
  'reads an open directory': async (fs, at) => {
    await using file = await fs.open(at('d'))
    await file.readFile()
  },
  'reads a closed file': async (fs, at) => {
    const file = await fs.open(at('a'))
    await file.close()
    await file.close()
    await file.read()
  },
}

async function outcome(step: Step, fs: typeof real, root: string): Promise<unknown> {
  const at = (path: string): string => (path === '.' ? root || '/' : `${root}/${path}`)
  const shown = (text: unknown): unknown => (typeof text === 'string' ? text.replaceAll(root || '\0', '') : text)
  await fs.writeFile(at('a'), 'hello', { mode: 0o644 })
  await fs.mkdir(at('d'))
  await fs.writeFile(at('d/f'), 'deep')
  await fs.symlink('a', at('l'))
  try {
    return { value: await step(fs, at) }
  } catch (error) {
    const { name, message, code, errno, syscall, path, dest } = error as NodeJS.ErrnoException & { dest?: string }
    return { name, message: shown(message), code, errno, syscall, path: shown(path), dest: shown(dest) }
  }
}

it.each(Object.entries(steps))('[NF2] %s as node:fs does', async (_, step) => {
  const scratch = await createScratchDirectory({ prefix: 'ws-node-fs-' })
  onTestFinished(() => scratch.remove())
  const adapter = () => createMemoryAdapter()
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], scratch: false })
  onTestFinished(() => workspace.close())
  const fs = createNodeFs(workspace) as unknown as typeof real
  expect(await outcome(step, fs, '')).toEqual(await outcome(step, real, scratch.path))
})

it('[NF2] makes a directory of its own under another name where the first is taken', async () => {
  const numbers = [...Array<number>(12).fill(0), 0.999]
  const random = () => numbers.shift() ?? 0
  const adapter = () => createMemoryAdapter()
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], random })
  onTestFinished(() => workspace.close())
  const fs = createNodeFs(workspace)
  expect([await fs.mkdtemp('/t-'), await fs.mkdtemp('/t-')]).toEqual(['/t-aaaaaa', '/t-9aaaaa'])
  await expect(fs.mkdtemp('/t-')).rejects.toMatchObject({ code: 'EEXIST', path: '/t-aaaaaa' })
})

it('[NF2] refuses to watch in the words of Node, at the first event', async () => {
  const adapter = () => createMemoryAdapter({ files: { '/a': '' } })
  const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }] })
  onTestFinished(() => workspace.close())
  const watching = Array.fromAsync(createNodeFs(workspace).watch('/a'))
  await expect(watching).rejects.toMatchObject({
    ...{ code: 'ENOSYS', errno: -38, syscall: 'watch', path: '/a' },
    message: "ENOSYS: function not implemented, watch '/a'",
  })
})

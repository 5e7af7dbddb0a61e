import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { Contender, OpenContender } from './contender.ts'

/** Each is loaded only here: its work at start must not stop the others. */
export const others: Readonly<Record<string, OpenContender>> = {
  async deepagents(directory) {
    const { FilesystemBackend } = await import('deepagents')
    const backend = new FilesystemBackend({ rootDir: directory, virtualMode: true })
    const text = (content: Uint8Array): string => Buffer.from(content).toString('latin1')
    // Failures come as values.
    const must = async (result: Promise<{ error?: string | undefined }>): Promise<unknown> => {
      const { error } = await result
      if (error !== undefined && error !== null) throw new Error(error)
      return result
    }
    return {
      name: 'deepagents',
      operations: {
        read: (path) => must(backend.readRaw(`/${path}`)),
        list: (path) => must(backend.ls(`/${path}`)),
        // Its listings always hold sizes and times.
        listWithDetails: (path) => must(backend.ls(`/${path}`)),
        listTree: (path) => must(backend.glob('**/*', `/${path}`)),
        write: (path, content) => must(backend.write(`/${path}`, text(content))),
        remove: (path) => must(backend.delete(`/${path}`)),
        removeTree: (path) => must(backend.delete(`/${path}`)),
        search: (path, pattern) => must(backend.grep(pattern, `/${path}`)),
      },
    }
  },

  async '@mastra/core'(directory) {
    const { LocalFilesystem } = await import('@mastra/core/workspace')
    const files = new LocalFilesystem({ basePath: directory })
    await files.init()
    return {
      name: '@mastra/core',
      operations: {
        read: (path) => files.readFile(path),
        stat: (path) => files.stat(path),
        list: (path) => files.readdir(path),
        listTree: (path) => files.readdir(path, { recursive: true }),
        write: (path, content) => files.writeFile(path, Buffer.from(content)),
        create: (path, content) => files.writeFile(path, Buffer.from(content), { overwrite: false }),
        remove: (path) => files.deleteFile(path),
        removeTree: (path) => files.rmdir(path, { recursive: true }),
      },
    }
  },

  async 'just-bash'(directory) {
    const { Bash, ReadWriteFs } = await import('just-bash')
    const files = new ReadWriteFs({ root: directory })
    const bash = new Bash({ fs: files, cwd: '/' })
    return {
      name: 'just-bash',
      operations: {
        read: (path) => files.readFileBuffer(`/${path}`),
        stat: (path) => files.stat(`/${path}`),
        list: (path) => files.readdirWithFileTypes(`/${path}`),
        write: (path, content) => files.writeFile(`/${path}`, content),
        remove: (path) => files.rm(`/${path}`),
        removeTree: (path) => files.rm(`/${path}`, { recursive: true }),
        search: (path, pattern) => bash.exec(`grep -rF ${pattern} /${path}`),
      },
    }
  },

  async '@modelcontextprotocol/server-filesystem'(directory): Promise<Contender> {
    // Its tools are these functions, one after the other, without the protocol around them.
    const server = await import('@modelcontextprotocol/server-filesystem/dist/lib.js')
    server.setAllowedDirectories([directory])
    const at = (path: string): Promise<string> => server.validatePath(join(directory, path))
    return {
      name: 'MCP filesystem',
      operations: {
        read: async (path) => await server.readFileContent(await at(path)),
        stat: async (path) => await server.getFileStats(await at(path)),
        list: async (path) => await readdir(await at(path), { withFileTypes: true }),
        async listWithDetails(path) {
          const valid = await at(path)
          const entries = await readdir(valid, { withFileTypes: true })
          return await Promise.all(entries.map(({ name }) => server.getFileStats(join(valid, name))))
        },
        listTree: async (path) => await server.searchFilesWithValidation(await at(path), '**', [directory], {}),
        write: async (path, content) =>
          await server.writeFileContent(await at(path), Buffer.from(content).toString('latin1')),
      },
    }
  },
}

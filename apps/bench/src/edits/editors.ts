import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { applyDiff } from '@openai/agents-core'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import { Bash, ReadWriteFs } from 'just-bash'

import type { Edit } from './corpus.ts'

/** A tool that changes files of a directory. Each rejects where it says that nothing was done. */
export interface Editor {
  readonly name: string
  /** `undefined` where it has no such change. */
  edit?(file: string, edits: readonly Edit[]): Promise<unknown> | undefined
  patch?(file: string, diff: string): Promise<unknown>
  close?(): Promise<void>
}

/** Milliseconds of one call, after which it counts as refused. */
const longestCall = 30_000

export function openOwn(workspace: Workspace): Editor {
  const editing = createTools(workspace, { face: 'split' })
  const patching = createTools(workspace, { face: 'openai' })
  const must = async (answer: ReturnType<typeof editing.run>): Promise<void> => {
    const { isError, text } = await answer
    if (isError) throw new Error(text)
  }
  return {
    name: '@ws/tools',
    edit: (path, edits) => must(editing.run('replace', { path, ...(edits.length === 1 ? edits[0] : { edits }) })),
    patch: (path, diff) => must(patching.run('apply_patch', { type: 'update_file', path, diff })),
    async close() {
      await editing.close()
      await patching.close()
    },
  }
}

/** Its `edit_file`, over its own server. It can not replace all places. */
export async function openServerFilesystem(directory: string): Promise<Editor> {
  const require = createRequire(import.meta.url)
  const program = join(require.resolve('@modelcontextprotocol/server-filesystem/dist/lib.js'), '../index.js')
  const open = async (): Promise<Client> => {
    const client = new Client({ name: 'bench', version: '0.0.0' })
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, directory],
      stderr: 'ignore',
    })
    await client.connect(transport)
    return client
  }
  let client = await open()
  return {
    name: 'server-filesystem',
    edit(file, edits) {
      if (edits.some(({ all }) => all === true)) return undefined
      const given = edits.map((edit) => ({ oldText: edit.old, newText: edit.new }))
      const call = { name: 'edit_file', arguments: { path: join(directory, file), edits: given } }
      return client.callTool(call, undefined, { timeout: longestCall }).then(
        ({ isError, content }) => {
          if (isError === true) throw new Error(JSON.stringify(content))
        },
        async (error: unknown) => {
          // it may still be at work
          await client.close()
          client = await open()
          throw error
        },
      )
    },
    close: () => client.close(),
  }
}

/** The function that changes a text by a diff, between a read and a write. */
export function openApplyDiff(directory: string): Editor {
  return {
    name: 'applyDiff',
    async patch(file, diff) {
      const path = join(directory, file)
      await writeFile(path, applyDiff(await readFile(path, 'utf8'), diff))
    },
  }
}

/** `sed -i`, for one text within a line. Nothing in the text is special. */
export function openSed(directory: string): Editor {
  const bash = new Bash({ fs: new ReadWriteFs({ root: directory }), cwd: '/' })
  return {
    name: 'sed of just-bash',
    edit(file, edits) {
      const [edit] = edits
      if (edits.length !== 1 || edit === undefined || edit.old === '') return undefined
      if (/[\r\n]/u.test(edit.old + edit.new) || edit.old.length > 1000) return undefined
      const old = edit.old.replaceAll(/[\\/.*[\]^$]/gu, String.raw`\$&`)
      const text = edit.new.replaceAll(/[\\/&]/gu, String.raw`\$&`)
      const script = `s/${old}/${text}/${edit.all === true ? 'g' : ''}`
      return bash.exec(`sed -i '${script.replaceAll("'", String.raw`'\''`)}' /${file}`).then(({ exitCode, stderr }) => {
        if (exitCode !== 0) throw new Error(stderr)
      })
    },
  }
}

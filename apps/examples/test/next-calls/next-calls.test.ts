/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Workspace } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, createScratchDirectory, describeWith, type Component } from '@ws/test-fixtures'
import { createTools, type ToolAnswer, type Toolset } from '@ws/tools'
import { faceNames, type FaceName } from '@ws/tools/face-names'
import { expect, it, onTestFinished } from 'vitest'

import { catalogue, files, links } from './catalogue.ts'

const executor = createVirtualExecutor()

interface Site {
  readonly name: string
  readonly needs: readonly Component[]
  /** Commands are refused. Default false. */
  readonly noCommands?: true
  readonly open: () => Promise<Workspace>
}

async function openMemory(executors: readonly Executor[], given: typeof files = files): Promise<Workspace> {
  const isEmpty = given !== files
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: given }) }],
    executors,
    rules: isEmpty ? [] : [rules.deny('/denied'), rules.readOnly('/locked')],
  })
  if (!isEmpty) for (const [path, target] of Object.entries(links)) await workspace.createSymlink(path, target)
  return workspace
}

const memory: Site = { name: 'memory and the virtual executor', needs: [], open: () => openMemory([executor]) }
const sites: readonly Site[] = [
  memory,
  { name: 'memory without commands', needs: [], noCommands: true, open: () => openMemory([]) },
  { name: 'an empty memory', needs: [], open: () => openMemory([executor], {}) },
]

async function openLocal(processes: Executor, at: '/' | '/workspace', ruled = true): Promise<Workspace> {
  const { path: root, owner, remove } = await createScratchDirectory()
  onTestFinished(() => remove())
  const mounts = [{ at, adapter: () => createLocalAdapter({ root, owner }) }]
  const top = at === '/' ? '' : at
  {
    await using filling = await createWorkspace({ mounts })
    for (const [path, content] of Object.entries(files)) await filling.write(`${top}${path}`, content)
    for (const [path, target] of Object.entries(links)) await filling.createSymlink(`${top}${path}`, target)
  }
  const own = [rules.deny(`${top}/denied`), rules.readOnly(`${top}/locked`)]
  return createWorkspace({ mounts, executors: [processes], rules: ruled ? own : [] })
}

const bubblewrap = createBubblewrapExecutor()
const proot = createProotExecutor()
const processSites: readonly Site[] = [
  { name: 'bubblewrap at /', needs: [component('bubblewrap')], open: () => openLocal(bubblewrap, '/') },
  {
    name: 'bubblewrap at /workspace',
    needs: [component('bubblewrap')],
    open: () => openLocal(bubblewrap, '/workspace'),
  },
  { name: 'proot', needs: [component('proot')], open: () => openLocal(proot, '/workspace', false) },
  {
    name: 'proot, which cannot hold the rules',
    needs: [component('proot')],
    noCommands: true,
    open: () => openLocal(proot, '/workspace'),
  },
]

/** Whether a call did its work: a command of it ended well too. */
function worked({ isError, data }: ToolAnswer): boolean {
  const outputs = (data?.['output'] ?? []) as readonly { readonly outcome?: { readonly exitCode?: number } }[]
  const codes = [data?.['exit_code'] ?? 0, ...outputs.map(({ outcome }) => outcome?.exitCode ?? 0)]
  return !isError && codes.every((code) => code === 0)
}

/** Tools of a face over a workspace, which is another one after a change. */
class Tools implements AsyncDisposable {
  readonly #site: Site
  readonly #face: FaceName
  readonly #made = new Map<string, ToolAnswer>()
  #open: { readonly workspace: Workspace; readonly toolset: Toolset } | undefined

  constructor(site: Site, face: FaceName) {
    this.#site = site
    this.#face = face
  }

  async fresh(): Promise<Toolset> {
    const looks = /^(?:ls|cat|head|find|true)\b/u
    const changed = this.#open?.toolset.journal().some(({ command = '' }) => !looks.test(command))
    if (changed === true) await this[Symbol.asyncDispose]()
    if (this.#open === undefined) {
      const workspace = await this.#site.open()
      this.#open = { workspace, toolset: createTools(workspace, { face: this.#face }) }
    }
    return this.#open.toolset
  }

  /** Makes a call once for the same files. */
  async once({ tool, arguments: given }: NonNullable<ToolAnswer['next']>): Promise<ToolAnswer> {
    const key = JSON.stringify([tool, given])
    const answer = this.#made.get(key) ?? (await (await this.fresh()).run(tool, given))
    this.#made.set(key, answer)
    return answer
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#open?.toolset.close()
    await this.#open?.workspace.close()
    this.#open = undefined
    this.#made.clear()
  }
}

/** Wrong calls whose next call is missing or does not work, of every `step`-th call of the catalogue. */
async function failuresOf(site: Site, step: number): Promise<{ readonly wrong: number; readonly failed: string[] }> {
  const failed: string[] = []
  let wrong = 0
  for (const face of faceNames) {
    await using tools = new Tools(site, face)
    for (const { tool, input, name } of catalogue.filter((call, index) => call.face === face && index % step === 0)) {
      const answer = await (await tools.fresh()).run(tool, input)
      if (!answer.isError) continue
      wrong += 1
      if (answer.next === undefined) {
        // without commands the face has nothing to read with
        if (face !== 'openai' || site.noCommands !== true) failed.push(`${name}: ${answer.text}`)
        continue
      }
      const then = await tools.once(answer.next)
      if (!worked(then)) failed.push(`${name}\n  ${answer.text}\n  -> ${then.text}`)
    }
  }
  return { wrong, failed }
}

it('[FS1] each next call works as it stands', async () => {
  const { wrong, failed } = await failuresOf(memory, 7)
  expect(failed).toEqual([])
  expect(wrong).toBeGreaterThan(300)
})

for (const site of [...sites, ...processSites]) {
  // most of the advice is the same everywhere: memory shows all of it
  const step = site === memory ? 1 : 5
  describeWith(site.needs, `next calls on ${site.name}`, { tags: 'deep' }, () => {
    it(`[FS1] work as they stand: ${100 / step} % of the catalogue`, async () => {
      const { wrong, failed } = await failuresOf(site, step)
      expect(failed).toEqual([])
      expect(wrong).toBeGreaterThan(2000 / step)
    })
  })
}

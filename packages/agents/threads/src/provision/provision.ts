import { paths, type Workspace } from '@ws/core'

import { standardFiles, writeOnce } from './files.ts'
import { markerName, readMarker, writeMarker } from './marker.ts'
import { checkTemplate, copyTemplate } from './template.ts'
import type { LeftOut, PartName, Provisioned, ProvisionEvent, ThreadTemplate } from './types.ts'
import { makeVenv } from './venv.ts'

export interface ProvisionOptions {
  readonly threadId: string
  readonly workspace: Workspace
  /** Opens the tree without the thread's rules, for the operator's files. Called only to make a missing part. */
  readonly operator: () => Promise<Workspace>
  readonly template: ThreadTemplate | undefined
  readonly noProcesses: string | undefined
  readonly links: boolean
  readonly pip: boolean
  readonly report: (event: ProvisionEvent) => void
  readonly signal: AbortSignal | undefined
}

/** Makes the missing parts in order, the marker last [RP8, RP11]. A part that cannot be made is reported and left out. */
export async function provision(options: ProvisionOptions): Promise<Provisioned> {
  const { threadId, workspace, template, report } = options
  // one listing shows all parts: in a store with an API, each check costs requests
  const names = new Set(
    (await Array.fromAsync(workspace.list(workspace.root, { signal: options.signal }))).map(({ name }) => name),
  )
  const marker = names.has(markerName) ? await readMarker(await options.operator()) : undefined
  const isThere = (part: PartName): boolean => marker?.made.includes(part) === true && names.has(part)
  const made: PartName[] = []
  const leftOut: LeftOut[] = []
  const step = async (part: PartName, make: () => Promise<'made' | 'kept' | { reason: string }>): Promise<void> => {
    options.signal?.throwIfAborted()
    if (isThere(part)) {
      made.push(part)
      return
    }
    report({ threadId, part, state: 'started' })
    const outcome = await make()
    if (typeof outcome === 'object') {
      leftOut.push({ part, ...outcome })
      report({ threadId, part, state: 'left out', ...outcome })
    } else {
      made.push(part)
      report({ threadId, part, state: outcome })
    }
  }

  if (template?.mode !== 'replace') {
    await step('.venv', async () => {
      const { noProcesses: reason, links, pip, signal } = options
      return reason === undefined ? makeVenv(workspace, { links, pip, signal }) : { reason }
    })
    for (const [part, content] of Object.entries(standardFiles) as [keyof typeof standardFiles, string][]) {
      await step(part, async () =>
        !names.has(part) &&
        (await writeOnce(await options.operator(), paths.join(workspace.root, paths.parseMount(part)), content))
          ? 'made'
          : 'kept',
      )
    }
  }
  if (template !== undefined && !marker?.made.includes('template')) {
    await step('template', async () => {
      await checkTemplate(template.files)
      await copyTemplate(template.files, await options.operator())
      return 'made'
    })
  } else if (template !== undefined) made.push('template')

  const done: Provisioned = { made, leftOut }
  if (JSON.stringify(marker) !== JSON.stringify({ version: 1, ...done }))
    await writeMarker(await options.operator(), done)
  return done
}

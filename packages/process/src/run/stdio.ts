import { closeSync } from 'node:fs'
import { inheritedDescriptors, nullDescriptor, openContent } from './descriptors.ts'
import type { StartProcessOptions } from './types.ts'

export type StdioSlot = 'pipe' | 'ignore' | number

/** What Node's `stdio` takes, and the descriptors that are open here only until the child has its own. */
export function openStdio(options: StartProcessOptions): { readonly slots: StdioSlot[]; close(): void } {
  const { stdin = 'none', extraFds } = options
  const slots: StdioSlot[] = [stdin === 'none' ? 'ignore' : 'pipe', 'pipe', 'pipe']
  const opened: number[] = []
  const close = () => {
    for (const fd of opened) closeSync(fd)
  }
  try {
    for (const fd of inheritedDescriptors()) slots[fd] = nullDescriptor()
    for (const [fd, source] of extraFds ?? []) {
      if (source === 'pipe' || typeof source === 'number') slots[fd] = source
      else if (source === 'null') slots[fd] = nullDescriptor()
      else {
        const content = openContent(source)
        opened.push(content)
        slots[fd] = content
      }
    }
    // 'ignore' above 2 means: not there at all.
    return { slots: Array.from(slots, (slot) => slot ?? 'ignore'), close }
  } catch (error) {
    close()
    throw error
  }
}

import { closeSync } from 'node:fs'
import { inheritedDescriptors, nullDescriptor, openContent } from './descriptors.ts'
import { isPipePair } from './pipe-maker.ts'
import type { StartProcessOptions } from './types.ts'

/** Closes ends of given pipes. `child`: the child's ends, once the child has copies. `all`: both ends, if no child started. */
export function closePipes({ stdinPipe, stdoutPipe, extraFds }: StartProcessOptions, which: 'child' | 'all'): void {
  const outputs = [...(extraFds?.values() ?? [])].filter(isPipePair)
  const ofChild = [stdinPipe?.read, stdoutPipe?.write, ...outputs.map(({ write }) => write)]
  const own = which === 'child' ? [] : [stdinPipe?.write, stdoutPipe?.read, ...outputs.map(({ read }) => read)]
  for (const fd of [...ofChild, ...own]) if (fd !== undefined) closeSync(fd)
}

export type StdioSlot = 'pipe' | 'ignore' | number

/** Returns the slots for Node's `stdio`. `close`: closes descriptors once the child has copies. */
export function openStdio(options: StartProcessOptions): { readonly slots: StdioSlot[]; close(): void } {
  const { stdin = 'none', extraFds, stdinPipe, stdoutPipe } = options
  const slots: StdioSlot[] = [
    stdin === 'none' ? 'ignore' : (stdinPipe?.read ?? 'pipe'),
    stdoutPipe?.write ?? 'pipe',
    'pipe',
  ]
  const opened: number[] = []
  const close = () => {
    for (const fd of opened) closeSync(fd)
  }
  try {
    for (const fd of inheritedDescriptors()) slots[fd] = nullDescriptor()
    for (const [fd, source] of extraFds ?? []) {
      if (source === 'pipe' || typeof source === 'number') slots[fd] = source
      else if (source === 'null') slots[fd] = nullDescriptor()
      else if (isPipePair(source)) slots[fd] = source.write
      else {
        const content = source instanceof Uint8Array ? openContent(source) : source.reopen()
        opened.push(content)
        slots[fd] = content
      }
    }
    // For slots above 2, 'ignore' means that the child has no such descriptor.
    return { slots: Array.from(slots, (slot) => slot ?? 'ignore'), close }
  } catch (error) {
    close()
    throw error
  }
}

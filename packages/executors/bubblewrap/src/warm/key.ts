import { type BigIntStats, fstatSync, lstatSync } from 'node:fs'

import { HostPaths, type SystemEntry } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { Layout } from '../view/layout.ts'

const mostAnswers = 64

/**
 * A key of roots, tools, system and network. Commands with the same key see the same tree, and share a supervisor.
 * The key changes with a replaced directory, host mount, file of `/etc`, tool, size or filter.
 */
export function keyOf(
  { sources, system, tools, network, scratchBytes, seccomp, direct }: SandboxCommand,
  kept: Layout,
): string {
  return JSON.stringify([
    kept.placements.map(({ at, source, readOnly, type }) => [
      at,
      source,
      readOnly,
      type,
      source !== undefined && sources.identity(source),
    ]),
    kept.aliases,
    kept.hasTemporary,
    direct?.hidden,
    hostMountsAround(kept.placements.flatMap(({ source }) => (source === undefined ? [] : [source]))),
    system.map(describeEntry),
    tools.map(({ at, fd }) => [at, describeStatus(fstatSync(fd, { bigint: true }))]),
    network,
    scratchBytes,
    numberOf(seccomp),
  ])
}

function describeEntry(entry: SystemEntry): unknown {
  if (entry.kind === 'link') return [entry.at, entry.target]
  if (entry.kind === 'data') return [entry.at, Buffer.from(entry.content).toString('base64')]
  const status = lstatSync(entry.source, { bigint: true, throwIfNoEntry: false })
  // Directories are mounted live; files are copied.
  const isCopy = entry.kind === 'file'
  return [entry.at, entry.source, status && describeStatus(status, isCopy)]
}

function describeStatus({ dev, ino, size, ctimeNs }: BigIntStats, withContent = false): string {
  return [dev, ino, ...(withContent ? [size, ctimeNs] : [])].join(':')
}

/** Filters are identified by object: all starts share one object for the same filter. */
const numbers = new WeakMap<Uint8Array, number>()
let lastNumber = 0

function numberOf(filter: Uint8Array): number {
  const known = numbers.get(filter) ?? ++lastNumber
  numbers.set(filter, known)
  return known
}

let lastTable: { readonly text: string; readonly answers: Map<string, string[]> } | undefined

/** The host's mounts around and below the sources. A sandbox keeps them as of its start. */
function hostMountsAround(sources: readonly string[]): string[] {
  const text = HostPaths.readMountInfo('self')
  if (lastTable?.text !== text) lastTable = { text, answers: new Map() }
  const key = sources.join('\0')
  const known = lastTable.answers.get(key)
  if (known !== undefined) return known
  const paths = sources.map((source) => `${Buffer.from(source).toString('latin1')}/`)
  const isNear = ({ point }: HostPaths.MountEntry) => {
    const at = point === '/' ? '/' : `${point}/`
    return paths.some((path) => path.startsWith(at) || at.startsWith(path))
  }
  const answer = HostPaths.parseMountTable(text)
    .filter(isNear)
    .map((entry) => Object.values(entry).join(' '))
  if (lastTable.answers.size >= mostAnswers) lastTable.answers.clear()
  lastTable.answers.set(key, answer)
  return answer
}

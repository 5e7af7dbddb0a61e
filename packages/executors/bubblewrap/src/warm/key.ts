import { type BigIntStats, fstatSync, lstatSync } from 'node:fs'

import { HostPaths, type SystemEntry } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { Layout } from '../view/layout.ts'

const mostAnswers = 64

/**
 * A key of roots, tools, system and network. Commands with the same key see the same tree, so they share a supervisor.
 * A replaced directory, host mount, file of `/etc`, tool, size or filter changes the key.
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
      source !== undefined && sources.identity(source), // @defence a warm sandbox that shows an older tree: took the place of the root
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
  // A directory is mounted and shows later changes; a file is a copy.
  const isCopy = entry.kind === 'file'
  return [entry.at, entry.source, status && describeStatus(status, isCopy)]
}

function describeStatus({ dev, ino, size, ctimeNs }: BigIntStats, withContent = false): string {
  return [dev, ino, ...(withContent ? [size, ctimeNs] : [])].join(':')
}

/** Numbers of filters, by object: all starts with the same filter use the same object. */
const numbers = new WeakMap<Uint8Array, number>()
let lastNumber = 0

function numberOf(filter: Uint8Array): number {
  const known = numbers.get(filter) ?? ++lastNumber
  numbers.set(filter, known)
  return known
}

let lastTable: { readonly text: string; readonly answers: Map<string, string[]> } | undefined

/** The host's mounts around and below the sources. A sandbox keeps these mounts in their state at its start. */
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

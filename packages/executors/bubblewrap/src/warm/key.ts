import { type BigIntStats, fstatSync, lstatSync } from 'node:fs'

import { HostPaths, type SystemEntry } from '@ws/sandbox'

import type { SandboxCommand } from '../bwrap/arguments.ts'
import type { Layout } from '../view/layout.ts'

/** Sets of sources that are remembered with a mount table. */
const mostAnswers = 64

/**
 * Tells one set of roots, tools, system and network from another. Commands with the same key see the same tree, and
 * one supervisor serves them. A directory that was replaced, a mount of the host below it, another file of `/etc`,
 * tool, size or filter makes another key.
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
  // A directory is mounted, and its content is that of the moment. A file is copied.
  const isCopy = entry.kind === 'file'
  return [entry.at, entry.source, status && describeStatus(status, isCopy)]
}

function describeStatus({ dev, ino, size, ctimeNs }: BigIntStats, withContent = false): string {
  return [dev, ino, ...(withContent ? [size, ctimeNs] : [])].join(':')
}

/** Filters are told apart by identity: the same one is asked for at every start. */
const numbers = new WeakMap<Uint8Array, number>()
let lastNumber = 0

function numberOf(filter: Uint8Array): number {
  const known = numbers.get(filter) ?? ++lastNumber
  numbers.set(filter, known)
  return known
}

let lastTable: { readonly text: string; readonly answers: Map<string, string[]> } | undefined

/** A sandbox takes along the mounts that its sources lie on, and those below them, as they are when it is made. */
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

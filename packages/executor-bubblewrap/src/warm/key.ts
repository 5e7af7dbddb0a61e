import { fstatSync, lstatSync } from 'node:fs'

import { readMountInfo } from '@ws/process'
import type { SystemEntry } from '@ws/sandbox'

import type { SandboxCommand } from '../arguments.ts'
import type { Layout } from '../layout.ts'

/**
 * Tells one set of roots, tools, system and network from another. Commands with the same key see the same tree, and
 * one supervisor serves them. A directory that was replaced, a mount of the host below it, another file of `/etc`,
 * tool, size or filter makes another key.
 */
export function keyOf(
  { sources, system, tools, network, scratchBytes, seccomp }: SandboxCommand,
  kept: Layout,
): string {
  return JSON.stringify([
    kept.placements.map(({ at, source, readOnly, type }) => [
      at,
      source,
      readOnly,
      type,
      source !== undefined && sources.identity(source),
      source !== undefined && sources.mounted(source),
    ]),
    kept.aliases,
    kept.hasTemporary,
    hostMountsBelow(kept.placements.flatMap(({ source }) => (source === undefined ? [] : [source]))),
    system.map(describeEntry),
    tools.map(({ at, fd }) => [at, describeStatus(fstatSync(fd, { bigint: true }))]),
    network,
    scratchBytes,
    Buffer.from(seccomp).toString('base64'),
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

interface Status {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly ctimeNs: bigint
}

function describeStatus({ dev, ino, size, ctimeNs }: Status, withContent = false): string {
  return [dev, ino, ...(withContent ? [size, ctimeNs] : [])].join(':')
}

/** A sandbox takes along the mounts that lie below its sources when it is made. */
function hostMountsBelow(sources: readonly string[]): string[] {
  const prefixes = sources.map((source) => `${Buffer.from(source).toString('latin1')}/`)
  return readMountInfo('self')
    .split('\n')
    .filter((line) => prefixes.some((prefix) => line.includes(` ${prefix}`)))
}

import { readFileSync } from 'node:fs'

import type { Descriptors, DescriptorSource } from '@ws/sandbox'

/** Descriptors of the first process in the view. They are closed before the command starts. */
export const ordersDescriptor = 3
export const reportDescriptor = 4
/** The descriptor of the command's standard error, which is separate from proot's. */
export const errorDescriptor = 5

const script = readFileSync(new URL('first-process.pl', import.meta.url), 'utf8')

export interface FirstProcess {
  readonly argv: readonly string[]
  readonly extraFds: Descriptors.ExtraDescriptors
}

/**
 * Returns the process that starts the command and reports its end: see `first-process.pl`. @param cwd a directory in the view
 * @param etc device and inode of the view's `/etc`
 */
export function firstProcess(options: {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly etc: string
}): FirstProcess {
  const variables = Object.entries(options.env).map(([name, value]) => `${name}=${value}`)
  return {
    argv: ['/usr/bin/perl', '-e', script, '--', ...options.argv],
    extraFds: new Map<number, DescriptorSource>([
      [ordersDescriptor, encode([options.etc, options.cwd, ...variables])],
      [reportDescriptor, 'pipe'],
      [errorDescriptor, 'pipe'],
    ]),
  }
}

function encode(fields: readonly string[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field)
      const length = Buffer.alloc(4)
      length.writeUInt32LE(bytes.length)
      return [length, bytes]
    }),
  )
}

export interface FirstReport {
  readonly started: boolean
  readonly failure?: { readonly step: string; readonly errno: number } | undefined
  readonly ending?: { readonly exitCode: number | null; readonly signal: number | null } | undefined
}

export function parseReport(text: string): FirstReport {
  const failure = /^fail (\w+) (\d+)$/m.exec(text)
  const exit = /^exit (\d+)$/m.exec(text)
  const signal = /^signal (\d+)$/m.exec(text)
  return {
    started: /^started$/m.test(text),
    failure: failure ? { step: failure[1] ?? '', errno: Number(failure[2]) } : undefined,
    ending: exit
      ? { exitCode: Number(exit[1]), signal: null }
      : signal
        ? { exitCode: null, signal: Number(signal[1]) }
        : undefined,
  }
}

import * as asyncHooks from 'node:async_hooks'
import * as childProcess from 'node:child_process'
import * as crypto from 'node:crypto'
import * as dns from 'node:dns'
import * as fs from 'node:fs'
import files from 'node:fs'
import * as fsPromises from 'node:fs/promises'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import * as stream from 'node:stream'
import * as streamPromises from 'node:stream/promises'
import * as timers from 'node:timers/promises'
import * as url from 'node:url'
import * as util from 'node:util'
import * as zlib from 'node:zlib'

const modules = {
  ...{ asyncHooks, childProcess, crypto, dns, fs, fsPromises, net, os, path },
  ...{ stream, streamPromises, timers, url, util, zlib },
}

/** Calls all that the scripts of the playground can import of Node. @returns each name with its message */
export function run(): [name: string, message: string][] {
  const messages: [string, string][] = [['default.openSync', messageOf(() => files.openSync('x', 'r'))]]
  messages.push(['promises.open', messageOf(() => fs.promises.open('x'))])
  for (const names of Object.values(modules)) {
    for (const [name, value] of Object.entries(names as Readonly<Record<string, unknown>>)) {
      if (typeof value !== 'function') continue
      messages.push([name, messageOf(() => Reflect.construct(value, ['x']) as unknown)])
    }
  }
  return messages
}

function messageOf(work: () => unknown): string {
  try {
    return String(work())
  } catch (error) {
    return (error as Error).message
  }
}

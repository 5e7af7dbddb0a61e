import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { WorkspaceError } from '@ws/core'
import { howToInstall } from '@ws/sandbox'

export type EngineAddress = { readonly socketPath: string } | { readonly host: string; readonly port: number }

export interface AddressProblem {
  readonly reason: string
  readonly remedy: string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Reads an address as `DOCKER_HOST` has it. `undefined`: neither a Unix socket nor plain TCP. */
export function parseAddress(text: string): EngineAddress | undefined {
  const path = /^unix:\/\/(\/[^\0]+)$/.exec(text)?.[1]
  if (path !== undefined) return { socketPath: path }
  const [, host, port] = /^tcp:\/\/([\w.-]+|\[[\da-f:]+\]):(\d{1,5})\/?$/.exec(text) ?? []
  return host === undefined ? undefined : { host: host.replaceAll(/[[\]]/g, ''), port: Number(port) }
}

/** Finds the engine where its own tools look for it: Docker's variable and contexts, then the sockets of Docker, Podman, OrbStack and Colima. */
export function findEngine(env: Environment = process.env): EngineAddress | AddressProblem {
  const named = env['DOCKER_HOST'] || contextHost(env) || env['CONTAINER_HOST']
  if (named !== undefined && named !== '') {
    const address = parseAddress(named)
    if (address !== undefined && 'socketPath' in address) return address
    return {
      reason: 'the engine that the environment names is not reached by a Unix socket of this machine',
      remedy:
        'start an engine here, or pass its address as `engine`: a TCP address gives everybody on the network root',
    }
  }
  const found = usualSockets(env).find(isSocket)
  if (found !== undefined) return { socketPath: found }
  return {
    reason: 'no container engine was found on this machine',
    remedy: `install one (\`${howToInstall('docker.io')}\`) and start its service, or set DOCKER_HOST`,
  }
}

/** @throws WorkspaceError `EINVAL` */
export function requireAddress(text: string, operation: string): EngineAddress {
  const address = parseAddress(text)
  if (address !== undefined) return address
  const reason = '`engine` must be an address such as `unix:///run/docker.sock` or `tcp://127.0.0.1:2375`'
  throw new WorkspaceError({ code: 'EINVAL', operation, reason, remedy: 'leave it out to find the engine' })
}

function usualSockets(env: Environment): string[] {
  const home = env['HOME'] ?? homedir()
  const runtime = env['XDG_RUNTIME_DIR']
  return [
    '/var/run/docker.sock',
    ...(runtime === undefined ? [] : [join(runtime, 'docker.sock'), join(runtime, 'podman/podman.sock')]),
    '/run/podman/podman.sock',
    ...['.docker/run/docker.sock', '.docker/desktop/docker.sock', '.orbstack/run/docker.sock'].map((path) =>
      join(home, path),
    ),
    join(home, '.colima/default/docker.sock'),
  ]
}

/** The address of Docker's current context, as `docker context use` sets it. */
function contextHost(env: Environment): string | undefined {
  const directory = env['DOCKER_CONFIG'] ?? join(env['HOME'] ?? homedir(), '.docker')
  const name = env['DOCKER_CONTEXT'] || read(join(directory, 'config.json'))?.currentContext
  if (name === undefined || name === 'default') return undefined
  const id = createHash('sha256').update(name).digest('hex')
  return read(join(directory, 'contexts/meta', id, 'meta.json'))?.Endpoints?.docker?.Host
}

interface DockerFile {
  readonly currentContext?: string
  readonly Endpoints?: { readonly docker?: { readonly Host?: string } }
}

function read(path: string): DockerFile | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as DockerFile
  } catch {
    return undefined // missing, or not of this form: the next place is looked at
  }
}

function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true
}

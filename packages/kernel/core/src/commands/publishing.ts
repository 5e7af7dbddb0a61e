import { outcomeOf } from '../calls/audit.ts'
import { admitCall } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { PublishedHost } from '../contract/executor.ts'
import type { HostsRule, PublishRule } from '../contract/policy.ts'
import type { ListeningPort, PortDoor, PublishedPort, PublishOptions } from '../contract/publishing.ts'
import type { ErrorCode } from '../errors.ts'
import { virtualError } from '../mount/errors.ts'
import { readHostDirectories } from '../mount/host-roots.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import { publishedPort } from '../policy/check-rules.ts'
import type { CommandDoor } from './admission.ts'

const portShape = option.required(publishedPort)

interface Held {
  readonly known: PublishedPort
  readonly host: PublishedHost
}

/** The published ports of a workspace. */
export class Ports implements PortDoor {
  readonly #door: () => CommandDoor
  readonly #published = new Map<number, Promise<Held>>()

  constructor(door: () => CommandDoor) {
    this.#door = door
  }

  async ports(): Promise<readonly ListeningPort[]> {
    admitCall(this.#door().context, 'ports', undefined)
    const { loopback, rules } = this.#loopback('ports')
    const listening = await loopback.ports(rules)
    return Promise.all(
      listening.map(async (port) => {
        const held = await this.#published.get(port)?.catch(() => undefined) // `publish` reports it
        return held === undefined ? { port } : { port, published: held.known }
      }),
    )
  }

  publish(port: number, options: PublishOptions = {}): Promise<PublishedPort> {
    return this.#audited('publish', port, async () => {
      checkMethod('publish', 'publish', options)
      if (options.hostPort !== undefined && options.socketPath !== undefined) throw problems.both()
      // of two calls at a time, the second one waits for the outcome of the first
      for (let before; (before = this.#published.get(port)) !== undefined; ) {
        const held = await before.catch(() => undefined) // its own call reports it
        if (held !== undefined && this.#published.get(port) === before) throw problems.twice(port, held.known)
      }
      const { context } = this.#door()
      admitCall(context, 'publish', undefined)
      const closed = context.gate.publishRules().find(({ ports }) => !ports.includes(port))
      if (closed !== undefined) throw problems.forbidden(port, closed) // @defence reach unasked: is refused in one sentence
      const holding = this.#hold(port, options)
      this.#published.set(port, holding)
      holding.catch(() => this.#published.get(port) === holding && this.#published.delete(port))
      return (await holding).known
    })
  }

  unpublish(port: number): Promise<void> {
    return this.#audited('unpublish', port, async () => {
      const holding = this.#published.get(port)
      const held = await holding?.catch(() => undefined) // `publish` reports it
      admitCall(this.#door().context, 'unpublish', undefined)
      if (held === undefined || this.#published.get(port) !== holding) throw problems.unpublished(port)
      this.#published.delete(port)
      await held.host.close()
    })
  }

  async close(): Promise<void> {
    const all = [...this.#published.values()]
    this.#published.clear()
    await Promise.all(all.map(async (held) => (await held.catch(() => undefined))?.host.close())) // `publish` reports it
  }

  async #hold(port: number, { hostPort = 0, socketPath }: PublishOptions): Promise<Held> {
    const { loopback, rules } = this.#loopback('publish')
    if (!(await loopback.ports(rules)).includes(port)) throw problems.silent(port)
    const mounts = await readHostDirectories(socketPath === undefined ? [] : this.#door().context.mounts)
    const host = await loopback.publish(port, { hostPort, socketPath, rules, mounts })
    const place =
      socketPath === undefined ? { url: `http://127.0.0.1:${host.port}`, hostPort: host.port } : { socketPath }
    return { known: { port, ...place }, host }
  }

  #loopback(operation: string) {
    const { executor, context } = this.#door()
    const loopback = executor?.attached.loopback
    const rules: readonly HostsRule[] = context.gate.hostRules()
    if (loopback !== undefined) return { loopback, rules }
    throw problems.notShared(operation)
  }

  async #audited<Result>(
    operation: 'publish' | 'unpublish',
    port: number,
    work: () => Promise<Result>,
  ): Promise<Result> {
    checkOption(operation, 'port', port, portShape)
    const { context, executor } = this.#door()
    const began = context.clock.begin()
    const record = (error?: unknown): void => {
      if (!context.audit.active) return
      const { time } = began
      const by = { door: 'exec', path: context.root, executor: executor?.name } as const
      const duration = context.clock.since(began)
      context.audit.record({ ...by, time, operation, port, duration, ...outcomeOf('exec', error, undefined) })
    }
    try {
      const result = await work()
      record()
      return result
    } catch (error) {
      record(error)
      throw error
    }
  }
}

const problem = (code: ErrorCode, reason: string, remedy: string, more: { operation?: string; rule?: string } = {}) =>
  virtualError({ code, operation: 'publish', reason, remedy, ...more })

const problems = {
  both: () => problem('EINVAL', '`hostPort` and `socketPath` cannot be given together', 'leave one of them out'),
  forbidden: (port: number, { name: rule, ports }: PublishRule) =>
    problem(
      'EACCES',
      `port ${port} may not be published: the rule allows ${ports.join(', ') || 'none'}`,
      'ask the operator',
      { rule },
    ),
  twice: (port: number, { url = 'a Unix socket' }: PublishedPort) =>
    problem('EEXIST', `port ${port} is published already at ${url}`, 'use that one, or call `unpublish` first'),
  silent: (port: number) =>
    problem(
      'ENOENT',
      `nothing listens on port ${port} of the workspace`,
      'wait until `ports()` lists it; the server must be a command in the background that acknowledges no rule',
    ),
  unpublished: (port: number) =>
    problem('ENOENT', `port ${port} is not published`, 'nothing is left to do', { operation: 'unpublish' }),
  notShared: (operation: string) =>
    problem(
      'ENOTSUP',
      'the commands of this workspace do not share a loopback',
      "use the bubblewrap executor with `loopback: 'workspace'`, and without `network: 'host'`",
      { operation },
    ),
} as const

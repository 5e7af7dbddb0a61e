import type { Socket as DatagramSocket } from 'node:dgram'
import type { Server, Socket } from 'node:net'

import type { hostLists } from '@ws/core/executor'
import { normalAddress } from '../address.ts'
import { AddressBook, nameServer } from './address-book.ts'
import { answerQuery } from './dns.ts'
import { HttpDoor } from './http-door.ts'
import { type Destination, Passages } from './passage.ts'
import { type Refusal, refusals } from './refusals.ts'
import { takeRequests } from './request-door.ts'
import { passOther, passTls } from './stream-door.ts'
import type { GateOptions, WantedSocket } from './types.ts'

/** Commands in a sandbox cannot bind lower ports, so the gate can use those ports on every address. */
const firstFreePort = 1024
const mostAsked = 10_000

/**
 * The only way out of a sandbox with an empty network: answers name queries, and connects to listed hosts. TLS or HTTP on a connection must
 * name the host of the connection's address.
 */
export class Gate {
  readonly #options: GateOptions
  readonly #book: AddressBook
  readonly #passages: Passages
  readonly #http: HttpDoor
  /** Unlisted names, each reported once until the gate settles. */
  readonly #asked = new Set<string>()
  /** Loopback ports that refused a connection, until a server listens on them. */
  readonly #own = new Set<number>()
  readonly #handles = new Set<{ close(): unknown }>()

  constructor(options: GateOptions) {
    this.#options = options
    this.#book = new AddressBook(options.list)
    this.#passages = new Passages(options)
    this.#http = new HttpDoor(this.#passages, options.requests?.authorities)
  }

  /** The sockets to open in the sandbox, for {@link takeDatagrams} and {@link takeServer}. */
  get wanted(): readonly WantedSocket[] {
    const { list } = this.#options
    const sockets = new Map<string, WantedSocket>()
    const want = (socket: WantedSocket): void => void sockets.set(`${socket.address} ${socket.port}`, socket)
    want({ kind: 'dns', address: nameServer, port: 53 })
    for (const port of list.ports) {
      const entries = list.entries.filter((entry) => entry.port === undefined || entry.port === port)
      const isFree = port >= firstFreePort && !entries.some(({ isWildcard }) => isWildcard)
      if (!isFree) want({ kind: 'tcp', address: everyAddress, port })
      else for (const { name } of entries) want({ kind: 'tcp', address: this.#placeOf(name), port })
    }
    return [...sockets.values()]
  }

  takeDatagrams(socket: DatagramSocket): void {
    this.#handles.add(socket)
    // the end of a sandbox also ends its sockets
    socket.on('error', () => undefined)
    socket.on('message', (query, { address, port }) => {
      const answer = answerQuery(query, (name) => this.#look(name))
      // a datagram may name the port 0, to which nothing can be sent
      if (answer !== undefined && port > 0) socket.send(answer, port, address, () => undefined)
    })
  }

  takeServer(server: Server, port: number): void {
    this.#handles.add(server)
    // a program may end its own side and continue to read
    Object.assign(server, { allowHalfOpen: true })
    // the end of a sandbox also ends its servers
    server.on('error', () => undefined)
    server.on('connection', (socket) => this.#accept(socket, port))
  }

  /** Reports an attempt that reached no socket of a host. */
  hearRefused(kind: 'tcp' | 'udp', address: string, port: number): void {
    if (kind === 'tcp' && isLoopback(address)) this.#own.add(port)
    else this.#passages.refuse(...this.#refusalAt(address, port, kind))
  }

  /** Records that a server, or the gate itself, accepted a connection to a loopback port. */
  hearOpen(port: number): void {
    const isGate = this.wanted.some((socket) => socket.port === port && socket.address === everyAddress)
    if (!isGate) this.#own.delete(port)
  }

  /** Reports the refusals so far, and allows another {@link GateLimits.bytes}: a command has begun or ended. */
  settle(): void {
    for (const port of this.#own) this.#passages.refuse('localhost', port, refusals.own())
    this.#own.clear()
    this.#asked.clear() // @defence is told as that of another: tells a refusal to each command that ran then
    this.#passages.allowMore()
  }

  /** Reports every connection before `close` returns. */
  async close(): Promise<void> {
    this.settle()
    for (const handle of this.#handles) handle.close()
    this.#http.close()
    await this.#passages.close()
  }

  #refusalAt(address: string, port: number, kind = 'tcp'): [host: string, port: number, refusal: Refusal] {
    const name = this.#book.nameOf(address)
    if (name === undefined && isLoopback(address)) return ['localhost', port, refusals.own()]
    const host = name ?? normalAddress(address) ?? address
    if (kind === 'udp') return [host, port, refusals.datagram()]
    return [host, port, refusals.unlisted(this.#options.list, host, port)]
  }

  #placeOf(name: string): string {
    return (this.#book.addressOf(name) ?? []).join('.')
  }

  #look(name: string): readonly number[] | undefined {
    const address = this.#book.addressOf(name)
    if (address === undefined && !this.#asked.has(name)) {
      // Programs query each name several times, for both kinds of address.
      if (this.#asked.size < mostAsked) this.#asked.add(name)
      this.#passages.refuse(name, undefined, refusals.unlisted(this.#options.list, name))
    }
    return address
  }

  #accept(inner: Socket, port: number): void {
    const name = this.#book.nameOf(inner.localAddress ?? '')
    const entry: hostLists.Entry | undefined = name === undefined ? undefined : this.#options.list.find(name, port)
    if (name === undefined || entry === undefined) {
      this.hearRefused('tcp', inner.localAddress ?? '', port)
      return void inner.resetAndDestroy()
    }
    const leave = this.#passages.enter()
    if (leave === undefined) {
      this.#passages.refuse(name, port, refusals.tooMany(this.#options.limits.connections))
      return void inner.resetAndDestroy()
    }
    inner.once('close', leave)
    this.#passages.hold(inner)
    // a fault of this process ends only this connection
    const end = (): void => void inner.destroy()
    const { requests } = this.#options
    const rules = requests?.hosts.of(name, port)
    const destination: Destination = { name, port, entry, rules }
    if (requests !== undefined && rules !== undefined) {
      const { authority } = requests
      const onRequests = (socket: Socket, isSecure: boolean): void =>
        this.#http.take(socket, { ...destination, isSecure })
      const door = { passages: this.#passages, authority, onHttp: onRequests }
      return void takeRequests(inner, destination, door).catch(end)
    }
    const onHttp = (): void => this.#http.take(inner, destination)
    if (port === 80) onHttp()
    else if (port === 443) void passTls(inner, destination, this.#passages).catch(end)
    else void passOther(inner, destination, { passages: this.#passages, onHttp }).catch(end)
  }
}

const everyAddress = '0.0.0.0'

const isLoopback = (address: string): boolean => /^127\.|^::1$/u.test(normalAddress(address) ?? '')

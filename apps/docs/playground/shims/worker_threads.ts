type Listener = (value: unknown) => void

/** Adds Node's method `on` to a browser's port. */
function listening(port: MessagePort): void {
  Object.assign(port, {
    on(_message: 'message', listener: Listener) {
      port.addEventListener('message', ({ data }) => listener(data))
      port.start()
    },
  })
}

export class MessageChannel extends globalThis.MessageChannel {
  constructor() {
    super()
    listening(this.port1)
  }
}

let script: URL | undefined

/** Sets the script of the interpreter's threads. */
export function setInterpreter(url: URL): void {
  script = url
}

/** A thread of the interpreter. */
export class Worker extends globalThis.Worker {
  readonly #until = new Map<string, AbortController>()

  constructor() {
    super(script ?? '')
  }

  on(event: string, listener: Listener): this {
    const until = this.#until.get(event) ?? new AbortController()
    this.#until.set(event, until)
    const heard = (heard: Event) => listener(heard instanceof ErrorEvent ? new Error(heard.message) : heard)
    this.addEventListener(event, heard, { signal: until.signal })
    return this
  }

  once(event: string, listener: Listener): this {
    return this.on(event, listener)
  }

  removeAllListeners(event: string): this {
    this.#until.get(event)?.abort()
    this.#until.delete(event)
    return this
  }

  override terminate(): void {
    super.terminate()
    this.dispatchEvent(new Event('exit'))
  }

  ref(): void {}
  unref(): void {}
}

/** Receives the executor's tasks in a thread. */
export const parentPort = {
  on(_message: 'message', listener: Listener) {
    addEventListener('message', ({ data }) => {
      listening((data as { readonly port: MessagePort }).port)
      listener(data)
    })
  },
}

export { Buffer } from 'buffer/'

/** Pages that are not isolated from other origins have no shared memory: a message then carries a copy. */
export const SharedArrayBuffer = globalThis.SharedArrayBuffer ?? ArrayBuffer

/** The parts of Node's `process` that the executor and the interpreter look at. */
export const process = {
  platform: 'linux',
  env: {},
  versions: {},
  on(event: string, listener: (reason: unknown) => void) {
    if (event !== 'unhandledRejection') return
    addEventListener('unhandledrejection', (rejection) => {
      rejection.preventDefault()
      listener(rejection.reason)
    })
  },
}

/** Timers of Node can be told not to keep the program alive, which they never do in a page. */
export function setTimeout(work: () => void, delay?: number): object {
  return Object.assign(Object(globalThis.setTimeout(work, delay)) as object, { ref() {}, unref() {} })
}

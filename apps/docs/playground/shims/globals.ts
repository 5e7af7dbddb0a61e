export { Buffer } from 'buffer/'

/** Without cross-origin isolation, a page has no shared memory: messages then contain copies. */
export const SharedArrayBuffer = globalThis.SharedArrayBuffer ?? ArrayBuffer

/** The parts of Node's `process` that the scripts use. */
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

/** A timer with Node's method `unref`, which has no effect in a page. */
export function setTimeout(work: () => void, delay?: number): object {
  return Object.assign(Object(globalThis.setTimeout(work, delay)) as object, { ref() {}, unref() {} })
}

export { Buffer } from 'buffer/'

/** Without cross-origin isolation there is no shared memory: messages then carry copies. */
export const SharedArrayBuffer = globalThis.SharedArrayBuffer ?? ArrayBuffer

/** The parts of Node's `process` that are used. */
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

/** Node's timers have `unref`, which has no meaning in a page. */
export function setTimeout(work: () => void, delay?: number): object {
  return Object.assign(Object(globalThis.setTimeout(work, delay)) as object, { ref() {}, unref() {} })
}

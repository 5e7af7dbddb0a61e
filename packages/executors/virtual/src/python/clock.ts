import type { Call } from './imports.ts'
import type { Memory } from './memory.ts'

/** The functions for time, in UTC. */
export function clockCalls(memory: Memory): Record<string, Call> {
  const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const setDate = (seconds: bigint, pointer: number) => void memory.setDate(pointer, new Date(Number(seconds) * 1_000))
  return {
    emscripten_date_now: () => Date.now(),
    // Called by a program that sleeps alone, again and again.
    emscripten_get_now: () => {
      Atomics.wait(pause, 0, 0, 1)
      return performance.now()
    },
    clock_time_get: (kind: number, _precision: bigint, pointer: number) => {
      memory.setLong(pointer, BigInt(Math.round((kind === 0 ? Date.now() : performance.now()) * 1e6)))
    },
    clock_res_get: (kind: number, pointer: number) => memory.setLong(pointer, kind === 0 ? 1_000_000n : 1_000n),
    _tzset_js: (zone: number, summer: number, ...names: number[]) => {
      memory.setNumbers([zone, summer], [0, 0])
      for (const pointer of names) memory.setText(pointer, 'UTC')
    },
    _gmtime_js: setDate,
    _localtime_js: setDate,
    _mktime_js: (pointer: number) => BigInt(memory.setDate(pointer, memory.date(pointer)).getTime() / 1_000),
    poll: (pointer: number, count: number, timeout: number) => {
      if (count === 0 && timeout > 0) Atomics.wait(pause, 0, 0, timeout)
      for (let index = 0; index < count; index++) memory.setReady(pointer + 8 * index)
      return count
    },
  }
}

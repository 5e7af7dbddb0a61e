import type { LandlockProbe } from './types.ts'

/** Restricts a real process and lets it try to read what was not granted. Never throws; takes about 5 ms. */
export async function probeLandlock(
  _options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<LandlockProbe> {
  throw new Error('not written yet')
}

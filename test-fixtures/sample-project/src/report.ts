import type { Counts, Report } from './types.ts'

// TODO: show the most frequent words first
export function report(file: string, counts: Counts): Report {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { file, total, counts }
}

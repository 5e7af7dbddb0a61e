/** How often each word occurs. */
export type Counts = Record<string, number>

export interface Report {
  readonly file: string
  readonly total: number
  readonly counts: Counts
}

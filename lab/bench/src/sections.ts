import type { Report } from './measure.ts'

type Measure = (report: Report) => Promise<void>

/** All sections, in order. Each is loaded only when it is measured. */
export const sections: Readonly<Record<string, () => Promise<Measure>>> = {
  'path check': async () => (await import('./path-check.ts')).measurePathCheck,
  files: async () => (await import('./files.ts')).measureFiles,
  search: async () => (await import('./search.ts')).measureSearch,
  s3: async () => (await import('./s3.ts')).measureS3,
  growth: async () => (await import('./growth.ts')).measureGrowth,
  tools: async () => (await import('./tools.ts')).measureTools,
  mcp: async () => (await import('./mcp.ts')).measureMcp,
  opening: async () => (await import('./opening.ts')).measureOpening,
  rules: async () => (await import('./rules.ts')).measureRules,
  commands: async () => (await import('./commands.ts')).measureCommands,
  programs: async () => (await import('./programs/index.ts')).measurePrograms,
  'programs rclone': async () => (await import('./programs/index.ts')).measureProgramsOnMount,
  rclone: async () => (await import('./rclone.ts')).measureRclone,
  memory: async () => (await import('./memory.ts')).measureMemory,
  threads: async () => (await import('./threads.ts')).measureThreads,
  runner: async () => (await import('./runner.ts')).measureRunner,
  ways: async () => (await import('./ways.ts')).measureWays,
}

/** Milliseconds for sections that need more than usual, because they run whole programs. */
export const sectionLimits: Readonly<Record<string, number>> = {
  growth: 1_500_000,
  programs: 900_000,
  'programs rclone': 1_200_000,
  rclone: 420_000,
}

/** Programs that agents often call, and that are not here. */
export const missingPrograms = [
  'git',
  'python3',
  'node',
  'npm',
  'pip',
  'make',
  'curl',
  'rg',
  'tree',
  'file',
  'du',
] as const

/** For models. A test compares it with the tables of the worker, which are too slow to load here. */
export const lacks = `The shell has no ${missingPrograms.join(', ')} or other installed program, and no network.`

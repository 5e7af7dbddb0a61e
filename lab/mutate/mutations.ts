import { checkpointMutations } from './checkpoints.ts'
import { commandLineMutations } from './command-line.ts'
import { commandMutations } from './commands.ts'
import { fileMutations } from './files.ts'
import { linkMutations } from './links.ts'
import { networkMutations } from './network.ts'
import { replicaMutations } from './replica.ts'
import { scarcityMutations } from './scarcity.ts'
import { serverMutations } from './servers.ts'
import type { Mutation } from './types.ts'
import { warmMutations } from './warm.ts'

/** In the order of the rows of docs/threat-model.md. */
export const mutations: readonly Mutation[] = [
  ...fileMutations,
  ...linkMutations,
  ...commandMutations,
  ...warmMutations,
  ...networkMutations,
  ...scarcityMutations,
  ...replicaMutations,
  ...checkpointMutations,
  ...serverMutations,
  ...commandLineMutations,
]

import { checkpointMutations } from './rows/checkpoints.ts'
import { commandLineMutations } from './rows/command-line.ts'
import { commandMutations } from './rows/commands.ts'
import { fileMutations } from './rows/files.ts'
import { linkMutations } from './rows/links.ts'
import { networkMutations } from './rows/network.ts'
import { replicaMutations } from './rows/replica.ts'
import { scarcityMutations } from './rows/scarcity.ts'
import { serverMutations } from './rows/servers.ts'
import { warmMutations } from './rows/warm.ts'

export const tables = [
  fileMutations,
  linkMutations,
  commandMutations,
  warmMutations,
  networkMutations,
  scarcityMutations,
  replicaMutations,
  checkpointMutations,
  serverMutations,
  commandLineMutations,
]

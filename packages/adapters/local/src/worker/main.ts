import { parentPort } from 'node:worker_threads'

import { type Batch, copySmall } from './copy-small.ts'

parentPort?.on('message', (batch: Batch) => parentPort?.postMessage(copySmall(batch)))

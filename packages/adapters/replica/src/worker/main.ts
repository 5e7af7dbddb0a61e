import { workerData } from 'node:worker_threads'

import { nameTemporaries, serve } from '@ws/tree/disk'

import { Host } from './host.ts'
import type { WorkerData } from './protocol.ts'

nameTemporaries((workerData as WorkerData).tempName)
serve(() => new Host(), { handsOver: true })

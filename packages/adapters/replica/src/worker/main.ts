import { workerData } from 'node:worker_threads'

import { nameTemporaries, serve } from '@ws/snapshots/internal'

import { Host } from './host.ts'
import type { WorkerData } from './protocol.ts'

nameTemporaries((workerData as WorkerData).tempName)
serve(() => new Host(), { handsOver: true })

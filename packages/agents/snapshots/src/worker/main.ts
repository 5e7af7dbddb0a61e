import { workerData } from 'node:worker_threads'

import { serve } from '@ws/tree/disk'

import type { WorkerData } from './protocol.ts'
import { Service } from './service.ts'

serve(() => new Service(workerData as WorkerData))

import { workerData } from 'node:worker_threads'

import type { WorkerData } from './protocol.ts'
import { serve } from './serve.ts'
import { Service } from './service.ts'

serve(() => new Service(workerData as WorkerData))

// A worker in a process of its own, which tests kill. Arguments: port, workspace, output, state, log.
import { createRunner } from '@ws/runner'
import { createStepWorker } from '@ws/runner/bullmq'

import { queueTypes } from './types.ts'

const [, , port = '', workspace = '', output = '', state = '', log = ''] = process.argv
const runner = await createRunner({ workspace, output, state, types: queueTypes(log) })
createStepWorker({ connection: { port: Number(port) }, runner, concurrency: 2, lockDuration: 1000 })
process.stdout.write('ready\n')

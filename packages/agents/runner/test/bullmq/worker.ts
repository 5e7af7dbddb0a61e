// A worker in a process of its own, which tests kill. Arguments: port, workspace, output, state, log.
import { createRunner } from '@ws/runner'

import { takeSteps } from '../../src/bullmq/worker.ts'
import { queueTypes } from './types.ts'

const [, , port = '', workspace = '', output = '', state = '', log = ''] = process.argv
const runner = await createRunner({ workspace, output, state, types: queueTypes(log) })
takeSteps({ connection: { port: Number(port) }, runner, concurrency: 2 }, 1_000)
process.stdout.write('ready\n')

import { startCephServer, startR2Server } from '../../src/s3/index.ts'

/** Starts the server that the argument names, says so, and waits to be killed. */
await (process.argv[2] === 'ceph' ? startCephServer() : startR2Server())
console.log('ready')
setInterval(() => undefined, 60_000)

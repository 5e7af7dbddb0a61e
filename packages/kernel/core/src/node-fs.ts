export { createNodeFs, type NodeFs } from './node-fs/node-fs.ts'

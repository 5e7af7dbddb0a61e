export { contractError as failure } from '@ws/core/adapter'

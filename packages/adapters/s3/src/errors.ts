export { contractError as failure, invalidArgument as invalid } from '@ws/core/adapter'

export { type Attempt, endsInTime, holds } from './in-time.ts'

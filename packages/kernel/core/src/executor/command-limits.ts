export { limitFields as fields } from '../contract/limits.ts'
export { limitShapes as shapes, narrowLimits as narrow, requireLimits as require } from './limits.ts'

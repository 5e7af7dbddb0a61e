export { forEachOf, mapInOrder } from './map-in-order.ts'
export { Pace } from './pace.ts'
export { Semaphore } from './semaphore.ts'

export { errorOf, Thread } from './thread.ts'
export { Turnstile } from './turnstile.ts'

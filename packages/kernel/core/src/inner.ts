/** The protocol between the core and the stores of this project: it can change in any version. */
export type * from './contract/inner.ts'

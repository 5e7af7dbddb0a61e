/** The protocol between the core and the stores of this project: it can change in any version. */
export type { EntryIterator, InnerAdapter, InnerListOptions, ListedOption } from './contract/inner.ts'

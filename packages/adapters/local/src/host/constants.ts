import { constants } from 'node:fs'

/** `O_PATH` is missing in Node's constants. The value is the same on every Linux architecture that Node supports. */
export const O_PATH = 0x20_0000

export const anyEntry = O_PATH | constants.O_NOFOLLOW
/** Opens a directory that is not a link. Needs no right to list the directory. */
export const anyDirectory = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** With O_NONBLOCK, because another process's lease would block the open. */
export const reading = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
export const readingDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
export const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK | constants.O_NOCTTY
export const creating = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Limit of bytes that are moved on this thread: 1 MiB can block the loop for 2 ms. */
export const smallBytes = 65_536
/** Bytes of one read or write on the pool. */
export const chunkBytes = 262_144

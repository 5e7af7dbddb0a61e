import type { S3Connection } from '@ws/test-fixtures/s3'

import { type OpenS3Client, forEach } from './client.ts'

export const needle = 'needle-in-the-hay'
export const searched = { directory: 'hay', files: 2_000, hits: 10 } as const
export const listed = { directory: 'many', files: 10_000 } as const
export const small = { directory: 'small', files: 500, bytes: 4_096 } as const
export const largeBytes = 64 * 1024 * 1024

/** Where a client puts its large file. Ours says in its metadata how large its parts are, so that it can be checked. */
export const largeKey = (client: string): string => `large/${client.replaceAll(/\W+/gu, '')}.bin`

const chunk = new Uint8Array(1024 * 1024).map((_, index) => index % 251)

/** {@link largeBytes}, in chunks as a file's stream has them. */
export async function* largeContent(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < largeBytes; sent += chunk.length) yield chunk
}

/** Puts files into the bucket. */
export async function fill(connection: S3Connection, open: OpenS3Client, files: Iterable<BucketFile>): Promise<void> {
  const client = await open(connection)
  try {
    await forEach(files, ({ key, content }) => client.put(key, content), 64)
  } finally {
    await client.close()
  }
}

export interface BucketFile {
  readonly key: string
  readonly content: Uint8Array
}

export function* searchedFiles(): Generator<BucketFile> {
  const line = 'The quick brown fox jumps over the lazy dog, and goes on to the next line of the file.\n'
  const every = searched.files / searched.hits
  for (let index = 0; index < searched.files; index += 1) {
    const text = line.repeat(12 + (index % 24))
    const content = Buffer.from(index % every === 0 ? `${text}${needle}\n${text}` : text)
    yield { key: `${searched.directory}/f${index}.txt`, content }
  }
}

/** The files to list, and the files to read. */
export function* plainFiles(): Generator<BucketFile> {
  for (let index = 0; index < listed.files; index += 1) {
    yield { key: `${listed.directory}/f${index}.txt`, content: new Uint8Array() }
  }
  for (let index = 0; index < small.files; index += 1) {
    yield { key: `${small.directory}/f${index}.txt`, content: smallContent }
  }
}

export const smallContent = chunk.slice(0, small.bytes)

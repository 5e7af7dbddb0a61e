import {
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3'
import { rename } from './native.ts'
import type { Requests, Task } from './requests.ts'
import { DamagedBodyError } from './retry.ts'

/** Sends one request of a listing. An answer without content names no bucket, and must not count as an empty listing. */
export function listOnce(
  { requests, bucket }: { readonly requests: Requests; readonly bucket: string },
  input: Omit<ListObjectsV2CommandInput, 'Bucket'>,
  task: Task,
): Promise<ListObjectsV2CommandOutput> {
  return requests.run(task, async ({ client, abortSignal }) => {
    const command = new ListObjectsV2Command({ ...input, Bucket: bucket })
    const answer = await client.send(command, { abortSignal }).catch((error: unknown) => {
      // the store has read the bucket's name as a key
      throw rename(error, { NoSuchKey: 'BucketInEndpoint', AccessDenied: 'DeniedList' })
    })
    if (answer.Name === undefined && answer.KeyCount === undefined) throw new DamagedBodyError('the listing is empty')
    return answer
  })
}

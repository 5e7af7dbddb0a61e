import {
  ListObjectsV2Command,
  type ListObjectsV2CommandInput,
  type ListObjectsV2CommandOutput,
} from '@aws-sdk/client-s3'
import type { Task } from '../client/requests.ts'
import { DamagedBodyError } from '../client/retry.ts'
import type { Store } from '../store.ts'

/** One request of a listing. An answer that was emptied on its way names no bucket, and is not an empty listing. */
export function listOnce(
  { requests, bucket }: Store,
  input: Omit<ListObjectsV2CommandInput, 'Bucket'>,
  task: Task,
): Promise<ListObjectsV2CommandOutput> {
  return requests.run(task, async ({ client, abortSignal }) => {
    const answer = await client.send(new ListObjectsV2Command({ ...input, Bucket: bucket }), { abortSignal })
    if (answer.Name === undefined && answer.KeyCount === undefined) throw new DamagedBodyError('the listing is empty')
    return answer
  })
}

import { signals } from '@ws/core/adapter'
import { listOnce } from '../client/list-once.ts'
import type { Task } from '../client/requests.ts'
import { BrokenListingError } from '../client/retry.ts'
import { decodeKey } from '../keys/decode.ts'
import { compareKeys, isReserved } from '../keys/names.ts'
import type { Store } from '../store/store.ts'

export interface ListedKey {
  /** The key below the listing's prefix. A common prefix ends in `/`. `undefined` if the key is not UTF-8. */
  readonly rest: string | undefined
  readonly shown: string
  readonly size: number
  readonly etag: string | undefined
  /** Milliseconds since the epoch, if the listing reports the time. */
  readonly modifiedAt?: number | undefined
}

export interface PageOptions {
  readonly prefix: string
  readonly flat: boolean
  /** True to include the adapters' own objects. */
  readonly reserved?: boolean | undefined
  /** Number of keys on a page. Default 1,000, the maximum. */
  readonly pageSize?: number | undefined
  /** Returns the key from which to continue after a page's last key, or `undefined` for the next key. */
  readonly skip?: ((last: string) => string | undefined) | undefined
}

export async function* pagesOf(store: Store, options: PageOptions, task: Task): AsyncGenerator<ListedKey[], undefined> {
  const stop = new AbortController()
  const signal = signals.either(stop.signal, task.signal)
  const fetch = (from: Position): Promise<Page> => {
    const page = fetchPage(store, options, from, { ...task, signal })
    page.catch(() => undefined) // a rejection before anyone awaits the page must not end the process
    return page
  }
  try {
    let next: Promise<Page> | undefined = fetch({})
    const tokens = new Set<string>()
    while (next !== undefined) {
      const { keys, following }: Page = await next
      const { ContinuationToken: token } = following ?? {}
      if (token !== undefined && tokens.has(token)) throw new BrokenListingError('the same token came twice')
      if (token !== undefined) tokens.add(token)
      next = following === undefined ? undefined : fetch(following)
      const shown = options.reserved === true ? keys : keys.filter(({ rest, shown }) => !isReserved(rest ?? shown))
      if (shown.length > 0 || next === undefined) yield shown
    }
    return undefined
  } finally {
    stop.abort()
  }
}

interface Position {
  readonly ContinuationToken?: string
  readonly StartAfter?: string
}

interface Page {
  readonly keys: ListedKey[]
  readonly following: Position | undefined
}

async function fetchPage(
  store: Store,
  { prefix, flat, pageSize, skip }: PageOptions,
  from: Position,
  task: Task,
): Promise<Page> {
  const options = { Prefix: prefix, EncodingType: 'url', ...(flat ? { Delimiter: '/' } : {}), ...from } as const
  const answer = await listOnce(store, { ...options, ...(pageSize === undefined ? {} : { MaxKeys: pageSize }) }, task)
  const encoded = answer.EncodingType === 'url'
  const listed = (given: string | undefined, size = 0, etag?: string, changed?: Date): ListedKey => {
    const { key, shown } = encoded ? decodeKey(given ?? '') : { key: given ?? '', shown: given ?? '' }
    return {
      rest: key?.slice(prefix.length),
      shown: shown.slice(prefix.length),
      size,
      etag,
      modifiedAt: changed?.getTime(),
    }
  }
  const keys = (answer.Contents ?? []).map(({ Key, Size, ETag, LastModified }) => listed(Key, Size, ETag, LastModified))
  const prefixes = (answer.CommonPrefixes ?? []).map(({ Prefix }) => listed(Prefix))
  if (prefixes.length > 0) {
    keys.push(...prefixes)
    keys.sort((a, b) => compareKeys(a.rest ?? a.shown, b.rest ?? b.shown))
  }
  return { keys, following: positionBehind(keys, answer, prefix, skip) }
}

function positionBehind(
  keys: readonly ListedKey[],
  {
    IsTruncated,
    NextContinuationToken,
  }: { IsTruncated?: boolean | undefined; NextContinuationToken?: string | undefined },
  prefix: string,
  skip: PageOptions['skip'],
): Position | undefined {
  if (IsTruncated !== true) return undefined
  const last = keys.at(-1)?.rest
  const skipped = last === undefined ? undefined : skip?.(prefix + last)
  if (skipped !== undefined) return { StartAfter: skipped }
  if (NextContinuationToken === undefined) throw new BrokenListingError('there is more, and no token for it')
  return { ContinuationToken: NextContinuationToken }
}

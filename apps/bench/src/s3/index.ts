import { component } from '@ws/test-fixtures'
import { type S3Connection, startCephServer } from '@ws/test-fixtures/s3'

import { type Comparison, type Measurement, type Way, compare, own, type Figures, summary } from '../measure.ts'
import {
  type BucketFile,
  fill,
  largeBytes,
  largeContent,
  largeKey,
  listed,
  needle,
  plainFiles,
  searched,
  searchedFiles,
  small,
  smallContent,
} from './bucket.ts'
import { type OpenS3Client, type S3Client, forEach } from './client.ts'

/**
 * Measures beside the time what a way costs this process: the processor time of all its threads, in microseconds for each
 * time that the work is done. Servers are processes of their own and do not count.
 */
class ProcessorTime {
  readonly #times = new Map<string, number[]>()

  watch({ name, run, before }: Way): Way {
    const times: number[] = []
    this.#times.set(name, times)
    return {
      name,
      before,
      async run(count) {
        const start = process.cpuUsage()
        await run(count)
        const { user, system } = process.cpuUsage(start)
        times.push((user + system) / count)
      },
    }
  }

  measurement(section: string, name: string): Measurement {
    // without the first, which was for warming up
    const figures = [...this.#times].map(([way, times]): Figures => summary(way, times.slice(1)))
    return { section, name, against: 'µs', figures: figures.filter(({ samples }) => samples > 0) }
  }
}

type Report = (measurement: Measurement) => void

/** The highest ratio to the time of the raw SDK: at least 0.95 of its throughput. */
const target = 1.05

/** Clients of S3 on one Ceph, in one run: the cost of an adapter beside the SDK alone. */
export function measureS3(report: Report): Promise<void> {
  return measureAll('s3', plainFiles(), works, report)
}

export function measureS3Search(report: Report): Promise<void> {
  return measureAll('s3 search', searchedFiles(), [search], report)
}

async function measureAll(
  section: string,
  files: Iterable<BucketFile>,
  all: readonly Work[],
  report: Report,
): Promise<void> {
  const ceph = component('radosgw')
  if (!ceph.available) throw new Error(`needs Ceph: ${ceph.reason}`)
  await using server = await startCephServer()
  const { openSdk } = await import('./sdk.ts')
  await fill(server, openSdk, files)
  const clients = await openAll(server, [
    openSdk,
    async (connection) => (await import('./own.ts')).openWorkspace(connection),
    async (connection) => (await import('./own.ts')).openAdapter(connection),
  ])
  try {
    for (const work of all) await measure(section, clients, work, report)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

interface Work extends Pick<Comparison, 'name' | 'count' | 'budget'> {
  readonly run: (client: S3Client) => Way['run']
  /** The same with a check of what came, where that makes it another way. */
  readonly runChecked?: (client: S3Client) => Way['run'] | undefined
  /** The unit of `count`, where its processor time is of interest. */
  readonly cpu?: string
  readonly note?: string
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

const works: readonly Work[] = [
  {
    name: `PUT ${small.files} × 4 KiB, 16 at a time`,
    count: small.files,
    cpu: 'PUT 4 KiB',
    run: (client) => (count) =>
      forEach(numbers(count), (index) => client.put(`put/${client.name}/f${index}.txt`, smallContent)),
  },
  {
    name: `GET ${small.files} × 4 KiB, 16 at a time`,
    count: small.files,
    note: 'only ours compare what came with the checksum in its ETag',
    cpu: 'GET 4 KiB',
    run: (client) => (count) =>
      forEach(numbers(count), async (index) => {
        expect(await client.get(`${small.directory}/f${index}.txt`), small.bytes)
      }),
  },
  {
    name: 'list 10,000 keys',
    count: 1,
    note: 'one directory, 1,000 keys a page',
    run: (client) => async () => expect(await client.list(listed.directory), listed.files),
  },
  {
    name: 'upload 64 MiB as a stream',
    count: 1,
    note: 'chunks of 1 MiB in parts of 8 MiB, three on their way; ours ask for the ETag at the end, which Ceph leaves out',
    run: (client) => () => client.upload(largeKey(client.name), largeContent),
  },
  {
    name: 'download 64 MiB as a stream',
    count: 1,
    note: 'one GET; only ours, and the SDK where it says so, compare what came with the checksum in its ETag',
    run: (client) => async () => expect(await client.download(largeKey(own)), largeBytes),
    runChecked: ({ downloadChecked }) =>
      downloadChecked && (async () => expect(await downloadChecked(largeKey(own)), largeBytes)),
  },
]

const search: Work = {
  name: 'search 2,000 objects',
  count: 1,
  cpu: 'search of 2,000 objects',
  note: 'list, GET 16 at a time, the lines that hold a literal text, of 1 to 3 KiB each',
  run: (client) => async () => expect(await client.search(searched.directory, needle), searched.hits),
}

async function measure(section: string, clients: readonly S3Client[], work: Work, report: Report): Promise<void> {
  const { run, runChecked, cpu, note, ...rest } = work
  const time = new ProcessorTime()
  const [reference, ...ways] = clients.map((client) => time.watch({ name: client.name, run: run(client) }))
  if (reference === undefined) return
  for (const client of clients) {
    const checked = runChecked?.(client)
    if (checked !== undefined) ways.push(time.watch({ name: `${client.name}, checked`, run: checked }))
  }
  report({ ...(await compare(section, { budget: 4_000, ...rest, target, reference, ways })), note })
  if (cpu !== undefined) report(time.measurement(section, `processor time of the client: ${cpu}`))
}

/** Those that can be driven here; the others are named. */
async function openAll(connection: S3Connection, all: readonly OpenS3Client[]): Promise<S3Client[]> {
  const opened: S3Client[] = []
  for (const open of all) {
    try {
      opened.push(await open(connection))
    } catch (error) {
      if (opened.length === 0) throw error
      console.error(`cannot be driven here: ${String(error)}`)
    }
  }
  return opened
}

function expect(found: number, expected: number): void {
  if (found !== expected) throw new Error(`${found}, not ${expected}`)
}

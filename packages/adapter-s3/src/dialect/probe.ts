import {
  CopyObjectCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  type CopyObjectCommandInput,
} from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import { isPreconditionFailure } from '../client/native.ts'
import type { Version } from '@ws/core'
import type { Fate } from '../client/requests.ts'
import { copySource } from '../keys/key-space.ts'
import { otherEtag, type Asker, type ProbeRequest } from './asker.ts'
import type { StartFacts } from './dialect.ts'

const controlName = '\t\n\u0001\u2028'
/** In NFC it would be one character. */
const decomposedName = 'e\u0301'
/** Where such a key comes back as it was sent, the server keeps control characters, and normalises nothing. */
const oddName = controlName + decomposedName

/** Asks by conditions that cannot hold, which a server that honours them refuses. @throws the SDK's error if no put works */
export async function probeStart(asker: Asker): Promise<StartFacts> {
  const odd = asker.key + oddName
  const oddVersion = await asker.putOnce(odd)
  const key = oddVersion === undefined ? asker.key + decomposedName : odd
  const first = oddVersion ?? (await asker.put(key))
  try {
    const md5Etags = first === createHash('md5').update('a').digest('hex')
    const [put, names] = await Promise.all([
      probePut(asker, key, first),
      probeNames(asker, key, oddVersion !== undefined),
    ])
    // after the others, since a server that ignores the conditions changes and deletes the object
    return { ...put, ...(await probeCopies(asker, key)), ...names, md5Etags }
  } finally {
    await asker.cleanUp()
  }
}

async function probePut(
  asker: Asker,
  key: string,
  etag: Version,
): Promise<Pick<StartFacts, 'etags' | 'conditionalPut'>> {
  const putWith =
    (condition: { readonly IfMatch: string } | { readonly IfNoneMatch: '*' }): ProbeRequest =>
    (client, options) =>
      client.send(asker.putCommand(key, condition), options)
  const create = await asker.refuses(putWith({ IfNoneMatch: '*' }))
  const update = create && (await asker.refuses(putWith({ IfMatch: `"${otherEtag}"` })))
  if (!update) return { etags: 'quoted', conditionalPut: false }
  for (const [etags, header] of [
    ['quoted', `"${etag}"`],
    ['bare', etag],
  ] as const) {
    if (await asker.accepts(putWith({ IfMatch: header }))) return { etags, conditionalPut: true }
  }
  return { etags: 'quoted', conditionalPut: false }
}

/** The source of a copy, then its destination, then a delete. */
async function probeCopies(
  asker: Asker,
  key: string,
): Promise<Pick<StartFacts, 'conditionalCopySource' | 'conditionalCopyDestination' | 'conditionalDelete'>> {
  const copy = (condition: Partial<CopyObjectCommandInput>): Promise<boolean> => {
    const CopySource = copySource(asker.bucket, key)
    // a copy onto itself is one where metadata is replaced
    const command = new CopyObjectCommand({
      Bucket: asker.bucket,
      Key: key,
      CopySource,
      MetadataDirective: 'REPLACE',
      ...condition,
    })
    return asker.refuses((client, options) => client.send(command, options))
  }
  const conditionalCopySource = await copy({ CopySourceIfMatch: `"${otherEtag}"` })
  const conditionalCopyDestination = (await copy({ IfNoneMatch: '*' })) && (await copy({ IfMatch: `"${otherEtag}"` }))
  return { conditionalCopySource, conditionalCopyDestination, conditionalDelete: await probeDelete(asker, key) }
}

async function probeDelete(asker: Asker, key: string): Promise<boolean> {
  const fate: Fate = { lost: false }
  const command = new DeleteObjectCommand({ Bucket: asker.bucket, Key: key, IfMatch: `"${otherEtag}"` })
  try {
    await asker.requests.run(asker.task, ({ client, abortSignal }) => client.send(command, { abortSignal }), { fate })
    asker.forget(key)
    return false
  } catch (error) {
    if (!isPreconditionFailure(error)) return false
  }
  // after a lost answer a server that ignores the condition refuses too, since nothing is left
  if (!fate.lost) return true
  return asker.accepts((client, options) =>
    client.send(new HeadObjectCommand({ Bucket: asker.bucket, Key: key }), options),
  )
}

type Names = Pick<StartFacts, 'controlCharacters' | 'normalisesKeys'>

/** @param isOdd the key that was put holds control characters too; else the server has not taken such a key */
async function probeNames(asker: Asker, key: string, isOdd: boolean): Promise<Names> {
  const keys = await asker.listKeys()
  if (!isOdd) return { controlCharacters: false, normalisesKeys: !keys.includes(key) }
  if (keys.includes(key)) return { controlCharacters: true, normalisesKeys: false }
  // it has come back as another one: which of the characters were changed?
  const [control, decomposed] = [`${asker.key}${controlName}`, `${asker.key}${decomposedName}`]
  const isPut = (await asker.putOnce(control)) !== undefined
  await asker.put(decomposed)
  const now = await asker.listKeys()
  return { controlCharacters: isPut && now.includes(control), normalisesKeys: !now.includes(decomposed) }
}

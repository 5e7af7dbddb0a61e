import { CopyObjectCommand, DeleteObjectCommand, type CopyObjectCommandInput } from '@aws-sdk/client-s3'
import { createHash } from 'node:crypto'
import type { Version } from '@ws/core'
import type { Fate } from '../client/requests.ts'
import { copySource } from '../keys/key-space.ts'
import { otherEtag, type Asker, type ProbeRequest } from './asker.ts'
import type { StartFacts } from '../dialect.ts'

const controlName = '\t\n\u0001\u2028'
/** A name of two characters that NFC turns into one. */
const decomposedName = 'e\u0301'
/** A server that returns this name unchanged keeps control characters and normalises nothing. */
const oddName = controlName + decomposedName

/** Sends conditions that must fail, so a correct server refuses. @throws the SDK's error if no put works */
export async function probeStart(asker: Asker): Promise<StartFacts> {
  const plain = asker.key + decomposedName
  const odd = asker.key + oddName
  try {
    const oddVersion = await asker.putOdd(odd, plain)
    const key = oddVersion === undefined ? plain : odd
    const first = oddVersion ?? (await asker.put(key))
    const md5Etags = first === createHash('md5').update('a').digest('hex')
    const [names, put] = await Promise.allSettled([
      probeNames(asker, key, oddVersion !== undefined),
      probePut(asker, key, first),
      asker.findLeft(),
    ])
    if (names.status === 'rejected') throw names.reason
    if (put.status === 'rejected') throw put.reason
    // copies come last: a server that ignores the conditions deletes the object
    return { ...put.value, ...(await probeCopies(asker, key)), ...names.value, md5Etags }
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
  const none = { etags: 'quoted', conditionalPut: false } as const
  if ((await asker.ask(putWith({ IfNoneMatch: '*' }))) !== 'refused') return none
  if ((await asker.ask(putWith({ IfMatch: `"${otherEtag}"` }))) !== 'refused') return none
  const fate: Fate = { lost: false }
  for (const [etags, header] of [
    ['quoted', `"${etag}"`],
    ['bare', etag],
  ] as const) {
    if ((await asker.ask(putWith({ IfMatch: header }), { fate })) === 'done') return { etags, conditionalPut: true }
  }
  // a put with a lost answer may have changed the ETag
  return fate.lost ? probePut(asker, key, await asker.put(key)) : none
}

async function probeCopies(
  asker: Asker,
  key: string,
): Promise<Pick<StartFacts, 'conditionalCopySource' | 'conditionalCopyDestination' | 'conditionalDelete'>> {
  const copy = async (condition: Partial<CopyObjectCommandInput>): Promise<boolean> => {
    const CopySource = copySource(asker.bucket, key)
    // a copy onto itself must replace metadata
    const command = new CopyObjectCommand({
      Bucket: asker.bucket,
      Key: key,
      CopySource,
      MetadataDirective: 'REPLACE',
      ...condition,
    })
    return (await asker.ask((client, options) => client.send(command, options), { optional: true })) === 'refused'
  }
  const conditionalCopySource = await copy({ CopySourceIfMatch: `"${otherEtag}"` })
  const conditionalCopyDestination = (await copy({ IfNoneMatch: '*' })) && (await copy({ IfMatch: `"${otherEtag}"` }))
  return { conditionalCopySource, conditionalCopyDestination, conditionalDelete: await probeDelete(asker, key) }
}

async function probeDelete(asker: Asker, key: string): Promise<boolean> {
  const fate: Fate = { lost: false }
  const command = new DeleteObjectCommand({ Bucket: asker.bucket, Key: key, IfMatch: `"${otherEtag}"` })
  const answer = await asker.ask((client, options) => client.send(command, options), { fate, optional: true })
  if (answer === 'done') asker.forget(key)
  // after a lost answer, a refusal may only mean that the object is gone
  return answer === 'refused' && (!fate.lost || (await asker.listKeys()).includes(key))
}

type Names = Pick<StartFacts, 'controlCharacters' | 'normalisesKeys'>

/** `isOdd`: the key contains control characters too. Otherwise the server refused such a key. */
async function probeNames(asker: Asker, key: string, isOdd: boolean): Promise<Names> {
  const keys = await asker.listKeys()
  if (!isOdd) return { controlCharacters: false, normalisesKeys: !keys.includes(key) }
  if (keys.includes(key)) return { controlCharacters: true, normalisesKeys: false }
  // the key was returned changed: find out by which characters
  const [control, decomposed] = [`${asker.key}${controlName}`, `${asker.key}${decomposedName}`]
  const isPut = (await asker.putOdd(control, decomposed)) !== undefined
  await asker.put(decomposed)
  const now = await asker.listKeys()
  return { controlCharacters: isPut && now.includes(control), normalisesKeys: !now.includes(decomposed) }
}

import mime from 'mime'

import { ownNames } from './metadata.ts'
import type { ObjectHeaders } from './stat.ts'

export interface Attributes {
  readonly ContentType?: string | undefined
  readonly CacheControl?: string | undefined
  readonly ContentDisposition?: string | undefined
  readonly ContentLanguage?: string | undefined
  /** Kept only if the bytes remain or grow. */
  readonly ContentEncoding?: string | undefined
  readonly Metadata: Readonly<Record<string, string>>
}

export interface FileDefaults {
  readonly contentType?: string | ((path: string) => string | undefined) | undefined
  readonly cacheControl?: string | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

const names = ['ContentType', 'CacheControl', 'ContentDisposition', 'ContentLanguage', 'ContentEncoding'] as const

/** The media type that stores assign by default. */
const unknownType = /^(?:application|binary)\/octet-stream$/u

export const noAttributes: Attributes = Object.freeze({ Metadata: Object.freeze({}) })

export function attributesOf(headers: ObjectHeaders): Attributes {
  const Metadata = Object.fromEntries(Object.entries(headers.Metadata ?? {}).filter(([name]) => !ownNames.has(name)))
  const found = Object.fromEntries(names.map((name) => [name, headers[name]]).filter(([, value]) => value))
  return { ...found, Metadata }
}

/** Attributes for a write: those of the replaced file, otherwise the defaults, with a media type by the name. */
export function attributesFor(path: string, kept: Attributes | undefined, defaults: FileDefaults): Attributes {
  const { contentType, cacheControl: CacheControl, metadata: Metadata = {} } = defaults
  const base = kept ?? { ...(CacheControl === undefined ? {} : { CacheControl }), Metadata }
  if (base.ContentType !== undefined && !unknownType.test(base.ContentType)) return base
  const chosen = typeof contentType === 'function' ? contentType(path) : contentType
  const ContentType = chosen ?? getType(path) ?? base.ContentType
  return ContentType === undefined ? base : { ...base, ContentType }
}

export function forNewBytes(attributes: Attributes): Attributes {
  return attributes.ContentEncoding === undefined ? attributes : { ...attributes, ContentEncoding: undefined }
}

export function attributeHeaders(attributes: Attributes): Omit<Attributes, 'Metadata'> {
  return Object.fromEntries(names.map((name) => [name, attributes[name]]).filter(([, value]) => value !== undefined))
}

/** The media type of a name, if any; text is UTF-8 here. */
function getType(path: string): string | undefined {
  const type = mime.getType(path) ?? undefined
  return type?.startsWith('text/') === true ? `${type}; charset=utf-8` : type
}

import mime from 'mime'

/** The media type of a name: text is UTF-8 here. `undefined` for a name that says nothing. */
export function getType(path: string): string | undefined {
  const type = mime.getType(path) ?? undefined
  return type?.startsWith('text/') === true ? `${type}; charset=utf-8` : type
}

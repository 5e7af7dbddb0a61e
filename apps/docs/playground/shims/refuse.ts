/** A stand-in for a missing part of Node: a call of it or of its members throws this sentence. */
export function refuse(module: string, name: string): () => never {
  const refused = function (): never {
    throw new Error(`\`${name}\` of ${module} is not available in a browser; run this workspace on Node`)
  }
  const get = (_: unknown, key: string | symbol): unknown =>
    key in refused || typeof key === 'symbol' ? Reflect.get(refused, key) : refuse(module, `${name}.${key}`)
  return new Proxy<() => never>(refused, { get })
}

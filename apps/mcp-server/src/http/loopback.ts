/** True for an address or a name of this machine alone. */
export function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|localhost)$/u.test(host)
}

import { readFileSync } from 'node:fs'

import type { Authority } from '@ws/network/gate'
import { Descriptors } from '@ws/sandbox'

const bundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/ca-bundle.pem']
const place = '/etc/ssl/certs/ca-certificates.crt'

/** Makes programs trust one more authority: Debian's `curl`, `git` and `wget` by the certificate bundle, other programs by variables. */
export function trustIn({ certificate }: Authority): {
  readonly certificates: string
  readonly env: Readonly<Record<string, string>>
} {
  const env = { SSL_CERT_FILE: place, NODE_EXTRA_CA_CERTS: place, REQUESTS_CA_BUNDLE: place }
  return { certificates: `${systemBundle()}\n${certificate}`, env }
}

function systemBundle(): string {
  for (const path of bundles) {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      if (Descriptors.isShort(error)) throw error // other errors mean that this system has no such bundle
    }
  }
  return process.getBuiltinModule('node:tls').rootCertificates.join('\n')
}

import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'

import type { Authority } from '@ws/network/gate'
import { Descriptors } from '@ws/sandbox'

/** The bundles of systems: Debian's, Fedora's, SUSE's. */
const bundles = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/ca-bundle.pem']
/** The bundle in commands. */
const place = '/etc/ssl/certs/ca-certificates.crt'

/**
 * Lets programs trust an authority beside those of this machine. Debian's `curl`, `git` and `wget` read the bundle; OpenSSL's own
 * default, Node and Python's `requests` are led there by variables.
 */
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
      if (Descriptors.isShort(error)) throw error // else it is another system's
    }
  }
  return rootCertificates.join('\n')
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { installInto, type Tarball } from './packed.ts'
import { capture } from './run.ts'

interface Bom {
  readonly bomFormat: string
  readonly components: readonly Component[]
}

interface Component {
  readonly name: string
  readonly version: string
  readonly licenses?: unknown
  readonly externalReferences?: readonly { readonly url: string }[]
}

/** Writes an SBOM (CycloneDX) of an install of every package, without peers. @param project empty or missing */
export function writeSbom(
  version: string,
  tarballs: readonly Tarball[],
  project: string,
  path: string,
): { readonly components: number; readonly problems: readonly string[] } {
  mkdirSync(project, { recursive: true })
  const root = { name: '@ws/release', version, private: true, type: 'module' }
  writeFileSync(join(project, 'package.json'), JSON.stringify(root))
  writeFileSync(join(project, '.npmrc'), 'legacy-peer-deps=true\n')
  const names = tarballs.map(({ name }) => name)
  installInto(project, names, tarballs)
  const text = capture('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=library'], { cwd: project })
  const bom = JSON.parse(text) as Bom
  const { bomFormat, components } = { ...bom, components: bom.components.map(withoutPlaces) }
  writeFileSync(path, `${JSON.stringify({ ...bom, components }, null, 2)}\n`)
  const listed = new Set(components.map(({ name }) => name))
  return {
    components: components.length,
    problems: [
      ...(bomFormat === 'CycloneDX' ? [] : [`sbom: its format is ${bomFormat}`]),
      ...names.filter((name) => !listed.has(name)).map((name) => `sbom: ${name} is not in it`),
      ...components
        .filter(({ licenses }) => licenses === undefined)
        .map(({ name, version }) => `sbom: ${name}@${version} has no licence`),
    ],
  }
}

/** Removes local paths of tarballs from a component. */
function withoutPlaces(component: Component): Component {
  const { externalReferences = [] } = component
  return { ...component, externalReferences: externalReferences.filter(({ url }) => !url.startsWith('file:')) }
}

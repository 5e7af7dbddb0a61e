import { findProgram } from '@ws/sandbox'

export interface Programs {
  readonly bwrap: string
  readonly proot?: string | undefined
  /** True if a workspace's directory can itself be the root. */
  readonly direct?: boolean | undefined
}

export async function findPrograms(): Promise<{
  readonly bwrap: string | undefined
  readonly proot: string | undefined
  readonly versions: Readonly<Record<string, string>>
}> {
  const [bwrap, proot] = await Promise.all([
    findProgram('bwrap', { versionArguments: ['--version'] }),
    findProgram('proot', { versionArguments: ['--help'] }),
  ])
  const version = (name: string, line: string | undefined) => {
    const number = /\d+\.\d+(?:\.\d+)?/.exec(line ?? '')?.[0]
    return number === undefined ? {} : { [name]: number }
  }
  return {
    bwrap: bwrap?.path,
    // proot starts inside the sandbox, which has only the system's programs.
    proot: proot?.path.startsWith('/usr/') ? proot.path : undefined,
    versions: { ...version('bubblewrap', bwrap?.version), ...version('proot', proot?.version) },
  }
}

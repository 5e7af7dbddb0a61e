import type { SandboxArguments } from '../arguments.ts'
import { descriptors } from '../first-process.ts'
import { type CommandTree, giveDescriptors, joinOptions, treeArguments } from '../tree-arguments.ts'

/**
 * bubblewrap's command line for a sandbox whose process 1 makes further ones. It has no rights and no filter: those further
 * ones take theirs on. Its `/proc` can be written, since user namespaces are made through it.
 *
 * @param argv the supervisor, with the descriptors `control` and `seccomp`
 */
export function supervisorArguments(command: CommandTree, argv: readonly string[]): SandboxArguments {
  const given = giveDescriptors(command)
  const { fds, close } = given
  try {
    const args = [
      ...treeArguments(command, given, { outer: {}, processes: 'writable' }),
      ...['--chdir', '/', '--json-status-fd', String(descriptors.status)],
    ]
    fds.set(descriptors.control, 'pipe')
    return {
      argv: [command.bwrap, '--args', String(descriptors.arguments), '--', ...argv],
      options: joinOptions(args),
      extraFds: fds,
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

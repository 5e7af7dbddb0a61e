/** The reason why a file may change entries by name, and the number of such calls. */
interface NamedActException {
  readonly acts: number
  readonly reason: string
}

const notes = 'notes in the state directory, which is closed to others and which no mount shows'

/** Exceptions by file. A new call is a problem until its number here confirms a review. */
export const namedActs: Readonly<Record<string, NamedActException>> = {
  'apps/cli/src/config/read-plan.ts': {
    acts: 3,
    reason:
      "directories are made below an open descriptor, and given away by their own; the report is the operator's own path",
  },
  'apps/cli/src/demo/project.ts': {
    acts: 3,
    reason: 'the demo fills a fresh directory before any command runs',
  },
  'apps/cli/src/config/trusted.ts': {
    acts: 4,
    reason: "the list of trusted config files, in the user's own state directory",
  },
  'apps/cli/src/config/write.ts': {
    acts: 2,
    reason: "the operator's own path; a link of that name is removed, and a new file is made",
  },
  'apps/cli/src/registry.ts': {
    acts: 5,
    reason: "the list of running `ws`, in the user's own runtime directory, which no mount shows",
  },
  'apps/cli/src/verify/fixtures.ts': {
    acts: 1,
    reason: 'the check fills a fresh directory before any command runs',
  },
  'apps/cli/src/verify/scratch.ts': {
    acts: 4,
    reason: 'the check gives a fresh directory away before any command runs',
  },
  'packages/adapters/local/src/host/calls.ts': {
    acts: 12,
    reason: 'the calls themselves: their callers pass paths below `/proc/self/fd` of a verified directory',
  },
  'packages/adapters/local/src/root/private-directory.ts': {
    acts: 3,
    reason:
      'a scratch directory with a random name, in a directory where only its user can exchange it, given away while it is empty',
  },
  'packages/adapters/local/src/root/scratch-places.ts': {
    acts: 2,
    reason: 'an empty directory beside a root, which is looked at after it is made, and removed only while it is empty',
  },
  'packages/adapters/local/src/worker/copy-small.ts': {
    acts: 1,
    reason: 'the path is `/proc/self/fd` of a directory that no other user can reach, with a name that this call made',
  },
  'packages/adapters/local/src/write/make-way.ts': {
    acts: 1,
    reason: 'the path is `/proc/self/fd` of a verified entry',
  },
  'packages/adapters/replica/src/create.ts': {
    acts: 3,
    reason:
      "the operator's own path, before any command runs; the files lie below it in a directory of the local adapter",
  },
  'packages/adapters/replica/src/worker/pieces.ts': {
    acts: 1,
    reason: 'one hidden name below `/proc/self/fd` of a verified directory; in an exchange, another hidden file goes',
  },
  'packages/adapters/replica/src/worker/service.ts': {
    acts: 1,
    reason: 'the paths are `/proc/self/fd` of verified directories',
  },
  'packages/adapters/rclone/src/bucket/bucket.ts': {
    acts: 1,
    reason:
      'directories of the prefix on the mount, made before a workspace can have it; rclone itself refuses links there',
  },
  'packages/adapters/rclone/src/cache/stale-names.ts': {
    acts: 1,
    reason: "rclone's cache, which no mount shows",
  },
  'packages/adapters/rclone/src/cache/lines.ts': {
    acts: 2,
    reason: "rclone's cache, which no mount shows",
  },
  'packages/adapters/rclone/src/cache/place.ts': {
    acts: 2,
    reason: "rclone's cache, which no mount shows",
  },
  'packages/adapters/rclone/src/cache/repair.ts': {
    acts: 4,
    reason: "rclone's cache, which no mount shows, while rclone does not run",
  },
  'packages/adapters/rclone/src/cache/cancelled-uploads.ts': {
    acts: 1,
    reason: "rclone's cache, which no mount shows",
  },
  'packages/adapters/rclone/src/mount/leftovers.ts': {
    acts: 1,
    reason: "rclone's cache, which no mount shows",
  },
  'packages/adapters/rclone/src/state/configuration.ts': {
    acts: 3,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/adapters/rclone/src/state/directories.ts': {
    acts: 9,
    reason: "rclone's own directories, which no mount shows; the mount point's parent belongs to this user",
  },
  'packages/kernel/sandbox/src/publish/listen.ts': {
    acts: 5,
    reason: 'a socket in a directory that is held open, and that lies outside of every mount',
  },
  'packages/executors/bubblewrap/src/view/etc-directory.ts': {
    acts: 10,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/bubblewrap/src/probe/probe.ts': {
    acts: 1,
    reason: 'a fresh directory with a random name; its command is the probe itself',
  },
  'packages/executors/proot/src/attach.ts': {
    acts: 4,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/proot/src/command-line.ts': {
    acts: 1,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/proot/src/covers.ts': {
    acts: 4,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/proot/src/run-directories.ts': {
    acts: 1,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/proot/src/runtime-directory.ts': {
    acts: 1,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/proot/src/skeleton.ts': {
    acts: 6,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/proot/src/system.ts': {
    acts: 13,
    reason:
      'in a directory that this process made for itself, closed to others, and outside every mount; what is given to the owner lies in such a directory',
  },
  'packages/executors/sandbox-runtime/src/attach.ts': {
    acts: 4,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/executors/sandbox-runtime/src/trial.ts': {
    acts: 5,
    reason: 'a fresh directory with a random name; its command is the probe itself',
  },
  'packages/executors/sandbox-runtime/src/worker.ts': {
    acts: 2,
    reason: 'in a directory that this process made for itself, closed to others, and outside every mount',
  },
  'packages/kernel/sandbox/src/run/runtime-directory.ts': {
    acts: 1,
    reason: 'a directory that this process made a moment ago, in the directory for temporary files',
  },
  'packages/kernel/sandbox/src/executor/trial.ts': {
    acts: 3,
    reason: 'a fresh directory with a random name; its command is the trial itself',
  },
  'packages/kernel/sandbox/src/run/descriptors.ts': {
    acts: 3,
    reason: 'a file with a random name that is removed while it is open',
  },
  'packages/kernel/sandbox/src/run/remove-tree.ts': {
    acts: 4,
    reason: 'one name below `/proc/self/fd` of an open directory; without `/proc` there are no commands',
  },
  'packages/kernel/sandbox/src/run/temporary-directory.ts': {
    acts: 1,
    reason: "a random name in the system's temporary directory",
  },
  'packages/agents/runner/src/state/local.ts': {
    acts: 5,
    reason: "the state directory, which no mount shows; a staging directory's parent belongs to this user",
  },
  'packages/kernel/sandbox/src/limits/cgroup/kernel.ts': {
    acts: 2,
    reason: "the kernel's own tree of control groups, which commands do not see",
  },
  'packages/kernel/sandbox/src/reserve/entries.pl': {
    acts: 3,
    reason: 'the path is `/proc/self/fd` of a verified directory',
  },
  'packages/kernel/sandbox/src/reserve/journal.pl': {
    acts: 5,
    reason: notes,
  },
  'packages/kernel/sandbox/src/reserve/journal.ts': {
    acts: 1,
    reason: notes,
  },
  'packages/kernel/sandbox/src/reserve/places.pl': {
    acts: 2,
    reason: notes,
  },
  'packages/kernel/sandbox/src/reserve/state-directory.ts': {
    acts: 3,
    reason:
      'the state directory is looked at after it was made, and refused where others can write; that of root lies where only root can exchange names',
  },
  'packages/kernel/tree/src/disk/restore/acts.ts': {
    acts: 18,
    reason:
      'one name below `/proc/self/fd` of a verified directory; a file that is given away is still open from its making',
  },
  'packages/kernel/tree/src/disk/restore/marks.ts': {
    acts: 4,
    reason: 'the path is `/proc/self/fd` of a verified entry',
  },
  'packages/agents/snapshots/src/disk/restore/restore.ts': {
    acts: 2,
    reason: 'the path is `/proc/self/fd` of a verified directory',
  },
  'packages/agents/snapshots/src/store/packs.ts': {
    acts: 1,
    reason: 'the state directory, which is closed to others and which no mount shows',
  },
  'packages/kernel/tree/src/store/state-directory.ts': {
    acts: 1,
    reason: 'the state directory is looked at after it was made, and refused where others can reach it',
  },
  'packages/agents/threads/src/lease/machine.ts': {
    acts: 3,
    reason: 'leases in the state directory, which no mount shows',
  },
  'packages/executors/machine/src/container/files.ts': {
    acts: 10,
    reason: 'entries of the state directory, which is refused where others can write to it, and which no mount shows',
  },
}

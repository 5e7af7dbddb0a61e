// Fails if a process with more rights than a command changes an entry by name, or if an event could end the process.
// The exceptions and their reasons: lib/acts-by-name-exceptions.ts.
import { unexpectedActs } from './lib/acts-by-name.ts'
import { ignoredErrors, unguardedHandlers } from './lib/handlers.ts'
import { repositoryRoot } from './lib/run.ts'

process.chdir(repositoryRoot)
const { problems: acts, files } = unexpectedActs()
const problems = [...acts, ...unguardedHandlers(), ...ignoredErrors()]
for (const problem of problems) console.error(problem)
// A pattern that matches no file would report no problem either.
if (files === 0) console.error('no sources were found')
console.log(`names: ${files} files, ${problems.length} problems`)
process.exitCode = files > 0 && problems.length === 0 ? 0 : 1

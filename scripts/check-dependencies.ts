import { checkImports, cruiseImports } from './lib/imports.ts'
import { repositoryRoot } from './lib/run.ts'

process.chdir(repositoryRoot)
process.exitCode = checkImports(await cruiseImports()) ? 0 : 1

// Prints the attempts for the site's page docs/escapes.md.
import { renderAttempts } from './table.ts'

process.stdout.write(renderAttempts())

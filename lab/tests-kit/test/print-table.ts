// Prints the tables of docs/conformance.md: `npm run conformance`.
import { conformanceTable } from './table.ts'

process.stdout.write(conformanceTable())

#!/usr/bin/env node
import { main } from './main.ts'

// what a command left open, such as standard input, must not keep this process alive
process.exit(await main(process.argv.slice(2)))

#!/usr/bin/env node
import { program } from 'commander'
import { StartupError } from '../lib/index.ts'
import { VERSION } from '../version.ts'
import { serveCommand } from './serve.ts'

program
  .name('tagwarden')
  .description('Watches server-side tag manager containers and says within minutes when a tag breaks.')
  .version(VERSION)
  .addCommand(serveCommand())

try {
  await program.parseAsync()
} catch (thrown) {
  if (!(thrown instanceof StartupError)) throw thrown
  console.error(`tagwarden: ${thrown.message}`)
  process.exitCode = 1
}

import { commandLine, run } from './program.ts'

// What is made here (database, backups, cached code) is for its owner: ingest keys and addresses are in it.
process.umask(process.umask() | 0o077)

await run(commandLine(), process.argv.slice(2))

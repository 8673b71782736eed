import { surviveLostOutput } from './output.ts'
import { commandLine, run } from './program.ts'

// Files created here (database, backups, cached code) are readable by their owner only: they hold ingest keys and addresses.
process.umask(process.umask() | 0o077)

surviveLostOutput()
await run(commandLine(), process.argv.slice(2))

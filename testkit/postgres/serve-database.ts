// For scripts: prints the address of an empty PostgreSQL database, and keeps its server until standard input ends.
import { once } from 'node:events'
import { createDatabase } from './databases.ts'

const { url } = await createDatabase({ isMigrated: false })
process.stdout.write(`${url}\n`)
process.stdin.resume()
await once(process.stdin, 'end')

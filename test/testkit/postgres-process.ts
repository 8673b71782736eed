import { startServer } from '../../testkit/postgres/server.ts'

// A process for the test to kill: says where its server is, and stays.
const server = await startServer({ durable: false })
console.log(server.adminUrl)
setInterval(() => undefined, 60_000)

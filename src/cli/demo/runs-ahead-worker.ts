import { parentPort } from 'node:worker_threads'
import { SECOND } from '../../lib/index.ts'
import { createOutbound, parseOutboundAllow } from '../../outbound/index.ts'
import { pagesInThisThread } from '../../probes/index.ts'
import { connectWithoutThread, openSqliteStore } from '../../store/index.ts'
import { type AheadOrder, runsAhead } from './runs-ahead.ts'

/** Entry point of the thread behind RunsAhead: it ends when all runs of its one order are made. */
parentPort?.once('message', async ({ dataDir, settings, probes, to }: AheadOrder) => {
  // It only reads, beside the one that writes and has the lock.
  const store = await openSqliteStore(dataDir, {
    connect: (options) => connectWithoutThread({ ...options, mode: 'reader' }),
  })
  const outbound = createOutbound({ allow: parseOutboundAllow(''), userAgent: 'Tagwarden', clock: { now: () => to } })
  const tools = { store, outbound, pages: pagesInThisThread, settings, retryAfterMs: SECOND }
  for await (const run of runsAhead(tools, probes, to)) parentPort?.postMessage(run)
  await store.close()
})

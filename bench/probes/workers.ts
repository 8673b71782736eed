import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Session } from '../../testkit/processes/session.ts'
import { type Bench, CONNECTIONS, type Load, type RoundResult, WARMUP_MS } from '../ingest/rounds.ts'
import { processorSeconds } from '../lib/machine.ts'
import type { SteadyCalls } from './steady-load.ts'
import type { TagServer, TagServerCalls } from './tag-server.ts'

/** The process that sends at a fixed rate. */
export const STEADY_LOAD = join(import.meta.dirname, 'steady-load.ts')
/** Enough that a request waits for a connection only where the server stands still. */
const STEADY_CONNECTIONS = 4 * CONNECTIONS
/** What the server still does for a load when it is over. */
const SETTLE_MS = 2_000

/** Starts the process that sends at a fixed rate. */
export function startSteadyLoad({
  session,
  seconds,
}: Bench): (load: Load, ratePerSecond: number) => Promise<RoundResult> {
  const steady = session.startWorker<SteadyCalls>('steady-load', STEADY_LOAD)
  return async ({ server, request, keys }, ratePerSecond) => {
    const before = processorSeconds(server.pid)
    const result = await steady.run({
      port: server.port,
      ratePerSecond,
      connections: STEADY_CONNECTIONS,
      warmupMs: WARMUP_MS,
      measureMs: seconds * 1_000,
      request,
      key: keys,
    })
    await sleep(SETTLE_MS)
    return { ...result, processorMicros: ((processorSeconds(server.pid) - before) * 1_000_000) / result.answers }
  }
}

/** Starts the tag server that all probes ask; what is returned asks it for its port and count. */
export function startTagServer(session: Session): () => Promise<TagServer> {
  return session.startWorker<TagServerCalls>('tag-server', join(import.meta.dirname, 'tag-server.ts')).ask
}

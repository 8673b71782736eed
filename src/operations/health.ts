import { sql } from 'kysely'
import { Type } from 'typebox'
import { type HttpApp, model } from '../http/index.ts'
import { asError } from '../lib/index.ts'
import type { Store } from '../store/index.ts'

export interface HealthOptions {
  store: Store
  /** Why the store accepts no writes, or null. */
  writeTrouble: () => string | null
  /** Why nothing is deleted by age, or null. */
  clockDoubt: () => string | null
  /** Why probes that need the network judge nothing, or null. */
  connectionDoubt: () => string | null
  /** Why ingest cannot tell unknown keys from new ones, or null. */
  keysDoubt: () => string | null
  isStopping: () => boolean
}

/** Longest that a readiness check waits for the store, ms. */
const READ_CHECK_TIMEOUT_MS = 2_000

const State = model('ServiceState', {
  status: Type.Union([Type.Literal('ok'), Type.Literal('degraded'), Type.Literal('unavailable')]),
  reasons: Type.Array(Type.String(), { description: 'Reasons to send requests elsewhere; empty when there are none' }),
  degraded: Type.Array(Type.String(), {
    description: 'What needs attention while requests are still answered',
  }),
})

/** Adds `/health`: the process is alive, and `/ready`: it can do its work. */
export function healthRoutes(app: HttpApp, options: HealthOptions): void {
  app.get(
    '/health',
    {
      config: { work: 'none' },
      schema: {
        tags: ['Service'],
        summary: 'The process is alive',
        security: [],
        response: { 200: Type.Object({ status: Type.Literal('ok') }) },
      },
    },
    async () => ({ status: 'ok' as const }),
  )
  app.get(
    '/ready',
    {
      config: { work: 'none' },
      schema: {
        tags: ['Service'],
        summary: 'The store can be reached and accepts writes',
        security: [],
        response: { 200: State, 503: State },
      },
    },
    async (_request, reply) => {
      const reasons = await troubles(options)
      const doubts = [options.clockDoubt(), options.connectionDoubt(), options.keysDoubt()]
      const degraded = doubts.filter((doubt) => doubt !== null)
      if (reasons.length > 0) return reply.code(503).send({ status: 'unavailable', reasons, degraded })
      return { status: degraded.length === 0 ? ('ok' as const) : ('degraded' as const), reasons, degraded }
    },
  )
}

async function troubles({ store, writeTrouble, isStopping }: HealthOptions): Promise<string[]> {
  const reasons: string[] = []
  if (isStopping()) reasons.push('the service is stopping')
  const writing = writeTrouble()
  if (writing !== null) reasons.push(`the store does not accept writes: ${writing}`)
  const reading = await readTrouble(store)
  if (reading !== null) reasons.push(`the store cannot be read: ${reading}`)
  return reasons
}

async function readTrouble(store: Store): Promise<string | null> {
  const timeout = new Promise<string>((resolve) => {
    setTimeout(resolve, READ_CHECK_TIMEOUT_MS, `no answer within ${READ_CHECK_TIMEOUT_MS} ms`).unref()
  })
  const read = sql`select 1`.execute(store.read).then(
    () => null,
    (thrown: unknown) => asError(thrown).message,
  )
  return Promise.race([read, timeout])
}

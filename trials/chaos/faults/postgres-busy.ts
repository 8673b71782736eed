import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { newPlace, openPostgresScene, openSession, type PostgresPlace, type Session } from '../postgres-scene.ts'

/** Ingest's commit gives up after 5 s. */
const HELD = { least: 500, most: 8_000 } as const
const TABLES = ['journal', 'idempotency_keys', 'minute_parts', 'dirty_buckets'] as const
const FULL = { least: 300, most: 3_000 } as const
/** The program comes back at once for each place that becomes free; it is shut out after some tries. */
const TRIES = 10

export const postgresLocks: Fault = {
  name: 'pg-locks',
  engine: 'PostgreSQL',
  rounds: 10,
  description: 'someone holds an exclusive lock on a table that commits or folds write to',
  async prepare(workshop) {
    const place = await newPlace(workshop)
    const scene = await openPostgresScene(workshop, place)
    return {
      scene,
      async strike(random) {
        const session = await openSession(place.url)
        await session.query('begin')
        await session.query(`lock table ${random.pick(TABLES)} in access exclusive mode`)
        await sleep(random.between(HELD.least, HELD.most))
        const endedAt = performance.now()
        await session.end()
        return endedAt
      },
    }
  },
}

export const postgresExhausted: Fault = {
  name: 'pg-exhausted',
  engine: 'PostgreSQL',
  rounds: 10,
  description: 'the sessions are terminated, and others take all connections that the server has',
  async prepare(workshop) {
    const place = await newPlace(workshop)
    const others = await newPlace(workshop)
    const scene = await openPostgresScene(workshop, place)
    return {
      scene,
      async strike(random) {
        const taken = await takeConnections(others)
        for (let tries = TRIES; tries > 0 && (await place.terminateSessions()) > 0; tries--) {
          taken.push(...(await takeConnections(others)))
        }
        await sleep(random.between(FULL.least, FULL.most))
        const endedAt = performance.now()
        await Promise.all(taken.map((session) => session.end()))
        return endedAt
      },
    }
  },
}

/** Connects until the server accepts no more connections. */
async function takeConnections({ url }: PostgresPlace): Promise<Session[]> {
  const sessions: Session[] = []
  for (;;) {
    try {
      sessions.push(await openSession(url))
    } catch {
      return sessions
    }
  }
}

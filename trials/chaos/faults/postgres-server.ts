import { setTimeout as sleep } from 'node:timers/promises'
import type { StopMode } from '../../../testkit/postgres/server.ts'
import type { Fault } from '../fault.ts'
import { newPlace, openPostgresScene } from '../postgres-scene.ts'

const AWAY = { least: 0, most: 1_500 } as const

export const postgresRestart: Fault = {
  name: 'pg-restart',
  engine: 'PostgreSQL',
  rounds: 12,
  description: 'the server stops (fast, immediately, or by `kill -9`) and is started again',
  async prepare(workshop) {
    const place = await newPlace(workshop)
    const scene = await openPostgresScene(workshop, place)
    return {
      scene,
      async strike(random) {
        await place.server.stop(random.pick<StopMode>(['fast', 'immediate', 'kill']))
        await sleep(random.between(AWAY.least, AWAY.most))
        await place.server.start()
        return performance.now()
      },
    }
  },
}

export const postgresSessions: Fault = {
  name: 'pg-sessions',
  engine: 'PostgreSQL',
  rounds: 10,
  description: 'all sessions are terminated, several times in a row',
  async prepare(workshop) {
    const place = await newPlace(workshop)
    const scene = await openPostgresScene(workshop, place)
    return {
      scene,
      async strike(random) {
        for (let times = 1 + Math.floor(random.between(0, 5)); times > 0; times--) {
          await place.terminateSessions()
          await sleep(random.between(0, 300))
        }
        return performance.now()
      },
    }
  },
}

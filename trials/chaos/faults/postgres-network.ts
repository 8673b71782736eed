import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../testkit/random.ts'
import type { Fault, Stage, Workshop } from '../fault.ts'
import { newPlace, openProxiedScene } from '../postgres-scene.ts'
import type { TcpProxy } from '../proxy.ts'

const CUT = { least: 0, most: 2_000 } as const
/** Longer than the 5 s that ingest's commit may take at most, and shorter. */
const SILENCE = { least: 500, most: 8_000 } as const
const DELAY = { least: 5, most: 400 } as const

/** A fault of the network between the program and the database, which is a proxy's. */
function networkFault(
  fields: Pick<Fault, 'name' | 'rounds' | 'description'>,
  strike: (proxy: TcpProxy, random: Random) => Promise<void>,
): Fault {
  const prepare = async (workshop: Workshop): Promise<Stage> => {
    const { proxy, scene } = await openProxiedScene(workshop, await newPlace(workshop))
    return {
      scene,
      async strike(random) {
        await strike(proxy, random)
        return performance.now()
      },
    }
  }
  return { ...fields, engine: 'PostgreSQL', prepare }
}

export const networkCut = networkFault(
  { name: 'pg-cut', rounds: 10, description: 'connections to the database are reset, new ones refused for a while' },
  async (proxy, random) => {
    proxy.mode = 'refuse'
    proxy.reset()
    await sleep(random.between(CUT.least, CUT.most))
    proxy.mode = 'pass'
  },
)

export const networkSilence = networkFault(
  {
    name: 'pg-silence',
    rounds: 8,
    description: 'connections to the database go silent and stay half-open; new ones pass after a while',
  },
  async (proxy, random) => {
    proxy.mode = 'silent'
    await sleep(random.between(SILENCE.least, SILENCE.most))
    proxy.forget()
  },
)

export const networkDelay = networkFault(
  { name: 'pg-delay', rounds: 8, description: 'whatever passes to and from the database takes up to 0.4 s longer' },
  async (proxy, random) => {
    proxy.mode = { delayMs: random.logBetween(DELAY.least, DELAY.most) }
    await sleep(random.between(SILENCE.least, SILENCE.most / 2))
    proxy.mode = 'pass'
  },
)

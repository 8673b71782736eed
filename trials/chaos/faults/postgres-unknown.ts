import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../../testkit/random.ts'
import type { Fault } from '../fault.ts'
import { HEAVY, HOSTILE } from '../habit.ts'
import { newPlace, openProxiedScene, type PostgresPlace } from '../postgres-scene.ts'
import type { TcpProxy } from '../proxy.ts'

const CUTS = { least: 3, most: 6 } as const
const BETWEEN = { least: 50, most: 400 } as const
/** What a commit of requests with keys ends in, one without, and any transaction, as of a fold. */
const COMMITS: readonly [string[], ...string[][]] = [
  ['insert into "journal"', 'commit'],
  ['insert into "journal"'],
  ['commit'],
]
/** Acknowledged before the next cut: the service is at work again. */
const AT_WORK = 10
/** Until the database has done what no one gets an answer to. */
const MUTE = { least: 5, most: 100 } as const
/** How late what was under way arrives: before, while and after the program folds what it knows of. */
const LATE = { least: 20, most: 2_500 } as const
const LOOK_EVERY_MS = 2
const LOOKS = 150

/**
 * Cuts connections while commits are under way, again and again: some have landed and their answers are lost, some land
 * seconds later. Half of the cuts wait for a fold that is between two of its transactions, of which heavy sites give it many.
 */
export const unknownCommits: Fault = {
  name: 'pg-unknown',
  engine: 'PostgreSQL',
  rounds: 10,
  description:
    'connections are cut while commits and folds of heavy sites are under way, which land unanswered or late',
  async prepare(workshop) {
    const place = await newPlace(workshop)
    const { proxy, scene } = await openProxiedScene(workshop, place, [HEAVY, HEAVY, HOSTILE, HEAVY])
    let cuts = 0
    let withinFold = 0
    return {
      scene,
      async strike(random) {
        for (let left = Math.round(random.between(CUTS.least, CUTS.most)); left > 0; left--) {
          if (random.chance(0.5)) await isFolding(place, LOOKS)
          await (random.chance(0.5) ? loseAnswers(proxy, random) : delayCommits(proxy, random))
          cuts++
          if (await isFolding(place, 1)) withinFold++
          await scene.ledger.untilAcknowledged(AT_WORK)
          await sleep(random.between(BETWEEN.least, BETWEEN.most))
        }
        return performance.now()
      },
      note: (rounds) => {
        const landed = rounds.reduce((sum, round) => sum + round.landed, 0)
        return `${withinFold} of ${cuts} cuts fell between two transactions of a fold; ${landed} requests without a key had landed although they were not acknowledged`
      },
    }
  },
}

/** The database commits, and the program gets no answer. */
async function loseAnswers(proxy: TcpProxy, random: Random): Promise<void> {
  proxy.mode = { muteFrom: random.pick(COMMITS) }
  await isUnderWay(proxy)
  await sleep(random.between(MUTE.least, MUTE.most))
  proxy.reset()
  proxy.mode = 'pass'
}

/** The program sees at once that its connections are gone; what it had sent, including a commit, arrives later. */
async function delayCommits(proxy: TcpProxy, random: Random): Promise<void> {
  proxy.mode = { delayMs: random.logBetween(LATE.least, LATE.most), from: random.pick(COMMITS) }
  await isUnderWay(proxy)
  proxy.strand()
  proxy.mode = 'pass'
}

async function isUnderWay(proxy: TcpProxy): Promise<void> {
  for (let look = 0; look < LOOKS && !proxy.hasMet; look++) await sleep(LOOK_EVERY_MS)
}

/** Whether a fold has committed some of its transactions and not all. Looks so many times. */
async function isFolding({ ask }: PostgresPlace, looks: number): Promise<boolean> {
  for (let look = 0; look < looks; look++) {
    if ((await ask('select 1 from folds')).length > 0) return true
    await sleep(LOOK_EVERY_MS)
  }
  return false
}

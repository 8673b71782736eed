import { type ExpressionWrapper, sql } from 'kysely'
import { SECOND } from '../lib/index.ts'
import type { Tables } from '../store/index.ts'

/*
 * A busy node writes its journal in lanes, each of some of its sites, and folds them one by one. A lane waits until its sites have sent
 * several requests each, which then come to one row instead of several.
 */

/**
 * Numbers of a lane's rows: a lane has so many. They stand in one stream per node, because in a cluster the commit of rows of several
 * streams would be one on several machines.
 */
const SPAN = 2 ** 40

/** Rows of any sites: those of a program of the version before, which counts its rows from 1, and what was spilled. */
export const MIXED_LANE = 0

const MOST_LANES = 64

/** The lane of a site where there are `count`, a power of two: each number of lanes has lanes of its own, from `count` on. */
export const laneOf = (siteNo: number, count: number): number => count + (siteNo % count)

/** All lanes that may hold rows of a site. */
export function lanesOf(siteNo: number): number[] {
  const lanes = [MIXED_LANE]
  for (let count = 1; count <= MOST_LANES; count *= 2) lanes.push(laneOf(siteNo, count))
  return lanes
}

/** The number before a lane's first row. */
export const startOfLane = (lane: number): number => lane * SPAN

/** The lane of a row, in SQL. @param seq the number of the row */
export const laneInSql = (seq: ExpressionWrapper<Tables, 'journal', number>) => sql<number>`${seq} / ${sql.lit(SPAN)}`

/** What a commit has added to a lane. */
export interface LaneRow {
  lane: number
  /** The number of its journal row. */
  seq: number
  /** Of each of its requests. */
  siteNos: readonly number[]
  /** Of its payload. */
  characters: number
}

/** What waits in a lane for its fold. */
export interface Waiting {
  requests: number
  /** How many sites sent them. */
  sites: number
  /** Of the journal rows that hold them. */
  characters: number
  /** When the oldest was committed, epoch ms. */
  since: number
}

/**
 * Requests up to which each lane is folded at once: a node with little to do gains nothing from waiting. A fold of so many takes a tenth
 * of a second at most.
 */
const FEW = 1_000
/** Requests of each site that have to meet for a wait to pay. */
const WORTH_WAITING = 3
/** Requests of each site from which more would hardly merge better: upserts of rows are a small part of a fold then. */
const MERGED = 32
/** No count waits longer, ms. What a killed node leaves is folded before it takes requests again: 3 s of work for 10 s of 10,000 requests/s. */
export const LONGEST_WAIT_MS = 15 * SECOND
/**
 * Characters in one lane. A sender of nothing but new names fills it with what no wait merges: so it takes no longer to fold, with all others waiting,
 * than some four seconds of such a load.
 */
const MOST_CHARACTERS = 8_000_000
/**
 * Sites in a lane. A fold of more of them would stop at the names and ids that it may hold. Measured with 10,000 sites: 16 lanes halved the
 * processor time of a request, 4 lanes saved nothing; 32 were no better than 16.
 */
const SITES_PER_LANE = 1_000
/** Lanes become fewer when they have less than this share of that. */
const FEW_SITES_SHARE = 1 / 4

/** Share of the wait, at most so large, from which a lane is folded when its turn has come … */
const DUE = 1
/** … and from which it is folded whatever else there is to do. */
const OVERDUE = 2

/** What a node has to do. */
export interface Busyness {
  /** Requests of the last second. */
  arrived: number
  /** Sites that sent them and those of some seconds before. */
  sites: number
}

/** Whether so many requests wait that a lane may wait for more. */
export const isMuch = (requests: number): boolean => requests > FEW

/**
 * Whether requests of the same sites will meet in a lane that waits: of 100,000 sites that send in turn hardly any do, and then a fold costs the same later, and
 * the lanes of each commit come on top (measured: a quarter more processor time a request).
 */
export const paysToWait = ({ arrived, sites }: Busyness): boolean =>
  isMuch(arrived) && (arrived * LONGEST_WAIT_MS) / OVERDUE / SECOND >= WORTH_WAITING * sites

/**
 * How many lanes to write to from now on: one where waiting does not pay, as each costs a row in every commit.
 *
 * @param before how many there are
 */
export function laneCount(before: number, busyness: Busyness): number {
  if (!paysToWait(busyness)) return 1
  const { sites } = busyness
  let count = before
  while (count < MOST_LANES && sites > count * SITES_PER_LANE) count *= 2
  while (count > 1 && sites < count * SITES_PER_LANE * FEW_SITES_SHARE) count /= 2
  return count
}

/** How far a lane's wait is over: 1 when it may be folded. */
function dueness({ requests, sites, characters, since }: Waiting, now: number): number {
  const merged = requests / (Math.max(1, sites) * MERGED)
  // A clock that was set back must not let it wait for longer.
  const waited = (OVERDUE * Math.abs(now - since)) / LONGEST_WAIT_MS
  return Math.max(merged, waited, characters / MOST_CHARACTERS)
}

/**
 * The lanes to fold now, the most urgent first.
 *
 * Lanes that a load fills alike are due at the same moment. So that their folds do not come in one burst, a round takes up little more than what has
 * come since the last one; after some rounds the lanes are spread over time by that.
 */
export function lanesToFold(waiting: ReadonlyMap<number, Waiting>, busyness: Busyness, now: number): number[] {
  const lanes = [...waiting].map(([lane, of]) => ({ lane, requests: of.requests, due: dueness(of, now) }))
  const byUrgency = lanes.toSorted((a, b) => b.due - a.due)
  const isAllDue = !isMuch(lanes.reduce((sum, { requests }) => sum + requests, 0))
  if (isAllDue || (isMuch(busyness.arrived) && !paysToWait(busyness))) return byUrgency.map(({ lane }) => lane)
  const enough = Math.max(FEW, 1.5 * busyness.arrived)
  let taken = 0
  return byUrgency.flatMap(({ lane, requests, due }) => {
    if (due < DUE || (due < OVERDUE && taken >= enough)) return []
    taken += requests
    return [lane]
  })
}

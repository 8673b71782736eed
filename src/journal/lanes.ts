import { type ExpressionWrapper, sql } from 'kysely'
import { SECOND } from '../lib/index.ts'
import type { Tables } from '../store/index.ts'

/*
 * A busy node writes its journal in lanes, each for some of its sites, and folds them one by one. A lane waits until its sites
 * have sent several requests each, which then merge into one row each.
 */

/** Row numbers per lane. All lanes of a node share one stream, because on Citus a commit to several streams would span several machines. */
const SPAN = 2 ** 40

/** Rows of any sites: from a program of the previous version, which numbers its rows from 1, and spilled ones. */
export const MIXED_LANE = 0

const MOST_LANES = 64

/**
 * The lane of a site among `count` lanes, a power of two. Each count has its own lanes, numbered from `count` on, so that none is
 * shared between counts.
 */
export const laneOf = (siteNo: number, count: number): number => count + (siteNo % count)

/** All lanes that may hold rows of a site, whatever the number of lanes was when they were written. */
export function lanesOf(siteNo: number): number[] {
  const lanes = [MIXED_LANE]
  for (let count = 1; count <= MOST_LANES; count *= 2) lanes.push(laneOf(siteNo, count))
  return lanes
}

/** The number before a lane's first row. */
export const startOfLane = (lane: number): number => lane * SPAN

/** The lane of a row, in SQL. @param seq the number of the row */
export const laneInSql = (seq: ExpressionWrapper<Tables, 'journal', number>) => sql<number>`${seq} / ${sql.lit(SPAN)}`

/** What one commit added to a lane. */
export interface LaneRow {
  lane: number
  /** The number of its journal row. */
  seq: number
  /** One for each request in it. */
  siteNos: readonly number[]
  /** Length of its payload. */
  characters: number
}

/** What a lane has to fold. */
export interface Waiting {
  requests: number
  /** How many sites sent the requests. */
  sites: number
  /** Length of the waiting rows' payloads. */
  characters: number
  /** When the oldest request was committed, epoch ms. */
  since: number
}

/**
 * Up to this many waiting requests all lanes are folded at once: a node with little to do gains nothing from waiting. Such a fold
 * takes a tenth of a second at most.
 */
const FEW = 1_000
/** Requests per site from which waiting pays. */
const WORTH_WAITING = 3
/** Requests per site from which more would hardly merge better: upserts are a small part of the fold by then. */
const MERGED = 32
/**
 * The longest that a count waits, ms. Before a restarted node takes requests it folds what the killed one left: 3 s of work for
 * 10 s of 10,000 requests/s.
 */
export const LONGEST_WAIT_MS = 15 * SECOND
/**
 * Characters from which a lane is due. A sender of nothing but new names fills a lane with names that no wait merges; with this
 * limit, folding it while all others wait takes no longer than some four seconds of such a load.
 */
const MOST_CHARACTERS = 8_000_000
/**
 * Sites per lane. With more, reading for a fold would stop at its limit of names and ids (`UNITS_PER_FOLD`). Measured with 10,000
 * sites: 16 lanes halved the processor time of a request, 4 lanes saved nothing, and 32 were no better than 16.
 */
const SITES_PER_LANE = 1_000
/** Below this share of `SITES_PER_LANE` the number of lanes is halved. */
const FEW_SITES_SHARE = 1 / 4

/** `dueness` from which a lane is folded if the round has room … */
const DUE = 1
/** … and from which it is folded in any case. */
const OVERDUE = 2

/** How much a node has to do. */
export interface Busyness {
  /** Requests in the last second. */
  arrived: number
  /** Sites that sent something in the last seconds. */
  sites: number
}

/** Whether enough requests wait for a lane to let more gather. */
export const isMuch = (requests: number): boolean => requests > FEW

/**
 * Whether a waiting lane will get several requests of each site. Of 100,000 sites that send in turn hardly any send twice; then
 * the same fold only comes later, and each commit writes to more lanes (measured: a quarter more processor time per request).
 */
const paysToWait = ({ arrived, sites }: Busyness): boolean =>
  isMuch(arrived) && (arrived * LONGEST_WAIT_MS) / OVERDUE / SECOND >= WORTH_WAITING * sites

/**
 * The number of lanes to write to from now on. It is 1 where waiting does not pay, as each lane costs a row in every commit.
 *
 * @param before the current number
 */
export function laneCount(before: number, busyness: Busyness): number {
  if (!paysToWait(busyness)) return 1
  const { sites } = busyness
  let count = before
  while (count < MOST_LANES && sites > count * SITES_PER_LANE) count *= 2
  while (count > 1 && sites < count * SITES_PER_LANE * FEW_SITES_SHARE) count /= 2
  return count
}

/** How urgent a lane's fold is: `DUE` and `OVERDUE` are the thresholds. */
function dueness({ requests, sites, characters, since }: Waiting, now: number): number {
  const merged = requests / (Math.max(1, sites) * MERGED)
  // A clock that was set back must not prolong the wait.
  const waited = (OVERDUE * Math.abs(now - since)) / LONGEST_WAIT_MS
  return Math.max(merged, waited, characters / MOST_CHARACTERS)
}

/**
 * The lanes to fold now, the most urgent first.
 *
 * Lanes that fill evenly are due at the same moment. To avoid one burst of folds, a round takes little more than what has arrived
 * since the last one; after some rounds that spreads the lanes over time.
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

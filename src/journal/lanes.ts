import { type ExpressionWrapper, sql } from 'kysely'
import { SECOND } from '../lib/index.ts'
import type { Tables } from '../store/index.ts'

/**
 * A node writes its journal in lanes, each of the same sites, and folds them one by one. On a busy node a lane waits until its sites
 * have sent several requests each, which then come to one row instead of several; and one site's counts can be brought up to
 * date without those of all others.
 *
 * More lanes make the fold of each shorter, and the rows of each commit more.
 */
export const LANES = 16

/**
 * Numbers of a lane's rows: a lane has so many. They stand in one stream per node, because in a cluster the commit of rows of several
 * streams would be one on several machines.
 */
const SPAN = 2 ** 40

/** Rows of sites of all lanes: those of a program of the version before, which counts its rows from 1. */
export const MIXED_LANE = 0

/** The lane of a site's rows: from 1 on. */
export const laneOf = (siteNo: number): number => 1 + (siteNo % LANES)

/** The lane of a row, in SQL. @param seq the number of the row */
export const laneInSql = (seq: ExpressionWrapper<Tables, 'journal', number>) => sql<number>`${seq} / ${sql.lit(SPAN)}`

/** The number before a lane's first row. */
export const startOfLane = (lane: number): number => lane * SPAN

/** What a commit has added to a lane. */
export interface LaneRow {
  lane: number
  /** The number of its journal row. */
  seq: number
  siteNos: readonly number[]
}

/** What waits in a lane for its fold. */
export interface Waiting {
  requests: number
  /** How many sites sent them. */
  sites: number
  /** When the oldest was committed, epoch ms. */
  since: number
}

/**
 * Requests on all lanes together up to which each of them is folded at once: a node with little to do gains nothing from waiting. A fold of
 * so many takes a tenth of a second at most.
 */
const FEW = 1_000
/** Requests of each site from which more would hardly merge better: upserts of rows are a small part of a fold then. */
const MERGED = 32
/** No count waits longer, ms. What a killed node leaves is folded when it starts again: some 5 s of work for half a minute of 5,000 requests/s. */
export const LONGEST_WAIT_MS = 30 * SECOND
/** Requests in one lane: they need memory when they are read, and time after a crash. */
const MOST = 20_000

/** Share of the wait, at most so large, from which a lane is folded when its turn has come … */
const DUE = 1
/** … and from which it is folded whatever else there is to do. */
const OVERDUE = 2

/** Whether so many requests wait in these lanes that each may wait for more. */
export const isMuch = (lanes: readonly { requests: number }[]): boolean =>
  lanes.reduce((sum, { requests }) => sum + requests, 0) > FEW

/** How far a lane's wait is over: 1 when it may be folded. */
export function dueness({ requests, sites, since }: Waiting, now: number): number {
  const merged = requests / (Math.max(1, sites) * MERGED)
  // A clock that was set back must not let it wait for longer.
  const waited = (OVERDUE * Math.abs(now - since)) / LONGEST_WAIT_MS
  return Math.max(merged, waited, requests / MOST)
}

/**
 * The lanes to fold now, the most urgent first.
 *
 * Lanes that a load fills alike are due at the same moment. So that their folds do not come in one burst, a round takes up little more than what has
 * come since the last one; after some rounds the lanes are spread over time by that.
 *
 * @param arrived requests since the last round
 */
export function lanesToFold(waiting: ReadonlyMap<number, Waiting>, arrived: number, now: number): number[] {
  const lanes = [...waiting].map(([lane, of]) => ({ lane, requests: of.requests, due: dueness(of, now) }))
  const byUrgency = lanes.toSorted((a, b) => b.due - a.due)
  if (!isMuch(lanes)) return byUrgency.map(({ lane }) => lane)
  const enough = Math.max(FEW, 1.5 * arrived)
  let taken = 0
  return byUrgency.flatMap(({ lane, requests, due }) => {
    if (due < DUE || (due < OVERDUE && taken >= enough)) return []
    taken += requests
    return [lane]
  })
}

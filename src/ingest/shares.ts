import { SECOND } from '../lib/index.ts'

/**
 * One node's share of a client's rate, requests per second. What nobody asks for is divided equally, so that every node can
 * take new load at once; a rate that does not suffice is divided by demand.
 *
 * The shares of nodes that reckon with the same demands add up to exactly `limit`, whatever the demands are.
 *
 * @param mine what this node has told the others of its demand: 0 when it has told them nothing
 * @param others what the other nodes have told, added up
 * @param nodes all that there are, those without demand and this one included
 */
export function shareOf(limit: number, mine: number, others: number, nodes: number): number {
  const total = mine + others
  return total < limit ? mine + (limit - total) / nodes : (limit * mine) / total
}

/**
 * Whether a node has to tell the others of its demand. Up to half of what it gets without a word it keeps silent, and reckons
 * with 0 as the others do: so the sum of all shares stays what it is, and clients far below their limit cost nothing. When
 * the others ask for the whole limit that half is 0, and any demand is told.
 */
export const isWorthTelling = (limit: number, demand: number, others: number, nodes: number): boolean =>
  demand > 0 && demand >= shareOf(limit, 0, others, nodes) / 2

/** Demand below this has gone, requests per second. */
const NO_DEMAND = 0.1
/** Weight of the newest round where chance can explain how it differs from those before … */
const WEIGHT_OF_CHANCE = 0.15
/** … and where it cannot. */
const WEIGHT_OF_CHANGE = 0.9

/**
 * A node's demand after one more round, requests per second. Few requests in a round say little and must not look like a
 * flicker; a load that comes or goes has to be seen at once.
 *
 * @param before the demand up to this round
 * @param arrivals requests in this round, which took `elapsed` ms
 */
export function demandAfter(before: number, arrivals: number, elapsed: number): number {
  const expected = (before * elapsed) / SECOND
  // Two standard deviations of what arrives independently of each other.
  const isChange = Math.abs(arrivals - expected) > 2 * Math.sqrt(Math.max(arrivals, expected))
  const weight = isChange ? WEIGHT_OF_CHANGE : WEIGHT_OF_CHANCE
  const demand = before + weight * ((arrivals * SECOND) / elapsed - before)
  return demand < NO_DEMAND ? 0 : demand
}

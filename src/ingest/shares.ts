import { SECOND } from '../lib/index.ts'

/**
 * One node's share of a client's rate, requests per second. Unclaimed rate is divided equally, so that every node can take new
 * load at once; when demand exceeds the rate, the rate is divided by demand.
 *
 * The shares of nodes that compute with the same demands add up to exactly `limit`, whatever the demands are.
 *
 * @param mine the demand that this node has published: 0 when it has published none
 * @param others the sum of what the other nodes have published
 * @param nodes the number of all nodes, including this one and those without demand
 */
export function shareOf(limit: number, mine: number, others: number, nodes: number): number {
  const total = mine + others
  return total < limit ? mine + (limit - total) / nodes : (limit * mine) / total
}

/**
 * Whether a node has to publish its demand. Below half of what it gets unpublished it publishes nothing, and computes with 0 as
 * the others do: so the sum of all shares stays the same, and clients far below their limit cost nothing. When the others ask
 * for the whole limit that half is 0, and any demand is published.
 */
export const isWorthPublishing = (limit: number, demand: number, others: number, nodes: number): boolean =>
  demand > 0 && demand >= shareOf(limit, 0, others, nodes) / 2

/** Demand below this counts as none, requests per second. */
const NO_DEMAND = 0.1
/** Weight of the newest round where chance can explain the difference from the rounds before … */
const WEIGHT_OF_CHANCE = 0.15
/** … and where it cannot. */
const WEIGHT_OF_CHANGE = 0.9

/**
 * A node's demand after one more round, requests per second. A few requests in a round prove little, so the demand must not
 * flicker with them; a load that starts or stops has to show at once.
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

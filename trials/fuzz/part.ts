import { basename } from 'node:path'
import type { ApiClient } from '../../testkit/api.ts'
import { type Session, startTagwarden } from '../../testkit/processes/session.ts'
import { Random } from '../../testkit/random.ts'
import { Campaign } from './campaign.ts'
import type { Failures } from './failures.ts'
import { goodCaller } from './fixture.ts'
import { filesHolding } from './leaks.ts'
import { MemoryWatch } from './memory.ts'
import { shortenFailures } from './shorten.ts'
import type { Tally } from './tally.ts'

const ADMIN_TOKEN = 'fuzz-admin-token-0123456789abcdef'
const VIEWER_TOKEN = 'fuzz-viewer-token-0123456789abcdef'
const ROUND = 20_000

/** How a server is run: without keys, or with. */
export type PartName = 'open' | 'keys'

export interface PartResult {
  name: PartName
  tally: Tally
  failures: Failures
  seconds: number
  /** Healthy requests that were acknowledged, and are counted. */
  healthy: number
  /** Attacked submissions that were acknowledged, and are counted. */
  counted: number
  /** Answers 200 to each kind of valid and hostile sender. */
  accepted: ReadonlyMap<string, number>
  /** Their events that were acknowledged, and are counted and charged. */
  charged: number
  memory: { earlyMb: number; lateMb: number; peakMb: number }
}

/** Attacks one server of its own with `requests` requests. */
export async function runPart(
  session: Session,
  name: PartName,
  requests: number,
  seed: number,
  progress: (text: string) => void,
): Promise<PartResult> {
  const dataDir = session.newFolder('data')
  const isKeyed = name === 'keys'
  const server = await startTagwarden(session, dataDir, {
    TRUST_PROXY: '127.0.0.1',
    ALLOW_UNAUTHENTICATED: 'true',
    OUTBOUND_ALLOW: '127.0.0.1',
    ...(isKeyed ? { ADMIN_TOKEN, VIEWER_TOKEN } : {}),
  })
  const api = goodCaller(server.url, isKeyed ? ADMIN_TOKEN : null)
  const random = new Random(seed)
  const canary = `canary${String(random.below(2 ** 32))}x${String(random.below(2 ** 32))}`
  const tokens = isKeyed ? [ADMIN_TOKEN, ADMIN_TOKEN, VIEWER_TOKEN, 'wrong'] : []
  const campaign = await Campaign.prepare({ server, api, tokens, random, seed, canary, progress })
  const memory = new MemoryWatch(server.pid, () => campaign.tally.requests / requests)
  const began = performance.now()
  try {
    await campaign.bendHttp()
    while (campaign.tally.requests < requests) {
      await campaign.attack(Math.min(ROUND, requests - campaign.tally.requests))
      await campaign.checkCounts()
      const perSecond = (campaign.tally.requests * 1_000) / (performance.now() - began)
      const { tally, failures } = campaign
      const stall = `longest stall of our own ${memory.longestStallMs.toFixed(0)} ms`
      progress(`${name}: ${tally.requests} requests, ${perSecond.toFixed(0)}/s, ${failures.count} failures, ${stall}`)
    }
  } finally {
    memory.stop()
  }
  const seconds = (performance.now() - began) / 1_000
  await shortenFailures(server.port, campaign.failures)
  await findLeaks(campaign, api, canary, session.folder)
  if (!server.isRunning) campaign.failures.add(`the process ended: ${server.state()}`, name, null)
  await server.stop()
  return {
    name,
    tally: campaign.tally,
    failures: campaign.failures,
    seconds,
    healthy: campaign.witness.account.acknowledged,
    counted: campaign.account.acknowledged,
    accepted: campaign.senders.accepted,
    charged: campaign.senders.account.acknowledged,
    memory: { earlyMb: memory.between(0.33, 0.43), lateMb: memory.between(0.9, 2), peakMb: memory.peakMb },
  }
}

/**
 * Looks for the canary wherever something could be kept of it. A name that is kept by design is looked for the same way:
 * not finding that one would mean that the search is blind.
 */
async function findLeaks(campaign: Campaign, api: ApiClient, canary: string, folder: string): Promise<void> {
  const { failures } = campaign
  const kept = campaign.keptName
  if (filesHolding(kept, [folder]).length === 0)
    failures.add('the search for stored content finds nothing', 'leaks', null)
  for (const file of filesHolding(canary, [folder]))
    failures.add(`content was stored in ${basename(file)}`, 'leaks', null)
  for (const id of campaign.siteIds) {
    const { text } = await api.call('GET', `/api/monitoring/sites/${id}/recent`)
    if (text.includes(canary)) failures.add('content is shown among the recent payloads', 'leaks', null)
  }
}

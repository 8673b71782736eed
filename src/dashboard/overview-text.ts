import { createHash } from 'node:crypto'
import { isoTimeOrNull } from '../lib/index.ts'
import type { ProbeState } from '../probes/index.ts'
import type { ClientState, Overview, SiteState } from './schemas.ts'
import { probeStatus } from './status.ts'

/** A site of the overview with its probes as they were read. */
export type SiteContent = Omit<SiteState, 'probes'> & { probes: readonly ProbeState[] }

/** What an overview says, whenever it is said. */
export type OverviewContent = Omit<Overview, 'generated_at' | 'clients'> & {
  clients: (Omit<ClientState, 'sites'> & { sites: SiteContent[] })[]
}

/** The same text for the same content, with hashes in place of the probes, which make up most of it. */
export const contentHash = (content: OverviewContent): string =>
  sha256(textOf(content, (probes) => `"${probesText(probes).hash}"`))

/** The whole as JSON. @param generatedAt ISO 8601 */
export const overviewJson = (content: OverviewContent, generatedAt: string): string =>
  `{"generated_at":${JSON.stringify(generatedAt)},${textOf(content, (probes) => probesText(probes).json)}`

/** The content as JSON, without the brace that opens it. */
function textOf({ clients, ...rest }: OverviewContent, textOfProbes: (probes: readonly ProbeState[]) => string): string {
  const sites = (all: readonly SiteContent[]) =>
    all.map(({ probes, ...site }) => withLast(site, 'probes', textOfProbes(probes)))
  const texts = clients.map(({ sites: ofClient, ...client }) => withLast(client, 'sites', `[${sites(ofClient).join()}]`))
  return withLast(rest, 'clients', `[${texts.join()}]`).slice(1)
}

/** An object that has some properties, as JSON with one more behind them. @param json the value of that */
const withLast = (object: object, key: string, json: string): string =>
  `${JSON.stringify(object).slice(0, -1)},"${key}":${json}}`

interface ProbesText {
  json: string
  hash: string
}

/** By the array of a site's states, which stays the same as long as they do. */
const texts = new WeakMap<readonly ProbeState[], ProbesText>()

function probesText(probes: readonly ProbeState[]): ProbesText {
  let text = texts.get(probes)
  if (text === undefined) {
    const json = JSON.stringify(probes.map(probeState))
    text = { json, hash: sha256(json) }
    texts.set(probes, text)
  }
  return text
}

const probeState = (probe: ProbeState): SiteState['probes'][number] => ({
  id: probe.id,
  probe_type: probe.probeType,
  name: probe.name,
  status: probeStatus(probe),
  judged: probe.status !== null && probe.reason === null,
  reason: probe.reason,
  message: probe.message,
  response_time_ms: probe.responseTimeMs,
  last_result_at: isoTimeOrNull(probe.lastResultAt),
})

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 27)

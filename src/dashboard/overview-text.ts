import { hashOf, isoTimeOrNull } from '../lib/index.ts'
import type { ProbeState } from '../probes/index.ts'
import type { ClientState, Overview, SiteState } from './schemas.ts'
import { probeStatus } from './status.ts'

/** A site of the overview with the states of its probes as they were read. */
export type SiteContent = Omit<SiteState, 'probes'> & { probes: readonly ProbeState[] }

/** The content of an overview, without its time. */
export type OverviewContent = Omit<Overview, 'generated_at' | 'clients'> & {
  clients: (Omit<ClientState, 'sites'> & { sites: SiteContent[] })[]
}

/**
 * The content as JSON, without its first brace and split where probes belong: the JSON of a site's probes is kept as long as they
 * stay the same.
 */
export class OverviewText {
  readonly #texts: readonly string[]
  /** The probes that follow each of the texts but the last. */
  readonly #probes: readonly ProbesText[]

  constructor({ clients, ...rest }: OverviewContent) {
    const texts: string[] = []
    const probes: ProbesText[] = []
    let text = `${opened(rest, 'clients')}[`.slice(1)
    for (const [index, { sites, ...client }] of clients.entries()) {
      text += `${index === 0 ? '' : ','}${opened(client, 'sites')}[`
      for (const [place, { probes: ofSite, ...site }] of sites.entries()) {
        texts.push(`${text}${place === 0 ? '' : ','}${opened(site, 'probes')}`)
        probes.push(probesText(ofSite))
        text = '}'
      }
      text += ']}'
    }
    this.#texts = [...texts, `${text}]}`]
    this.#probes = probes
  }

  /** Hash of the content, the same on every node. */
  get hash(): string {
    return hashOf(this.#with(({ hash }) => hash))
  }

  /**
   * Returns the whole as JSON, an `Overview`.
   *
   * @param generatedAt ISO 8601
   */
  json(generatedAt: string): string {
    return `{"generated_at":${JSON.stringify(generatedAt)},${this.#with(({ json }) => json)}`
  }

  #with(textOf: (probes: ProbesText) => string): string {
    return this.#texts
      .flatMap((text, index) => {
        const probes = this.#probes[index]
        return probes === undefined ? text : [text, textOf(probes)]
      })
      .join('')
  }
}

/** Returns an object as JSON, cut off before the value of one more property. */
const opened = (object: object, key: string): string => `${JSON.stringify(object).slice(0, -1)},"${key}":`

interface ProbesText {
  json: string
  hash: string
}

/** Keyed by the array of a site's states, which stays the same object as long as they do. */
const texts = new WeakMap<readonly ProbeState[], ProbesText>()

function probesText(probes: readonly ProbeState[]): ProbesText {
  let text = texts.get(probes)
  if (text === undefined) {
    const json = JSON.stringify(probes.map(probeState))
    text = { json, hash: hashOf(json) }
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

import { activeProbes } from '../probes/index.ts'
import type { Kysely, Tables } from '../store/index.ts'
import { probeStatus } from './status.ts'
import type { ProbeStatus } from './stream-events.ts'

/** Finds the probes that have another status than at the last call; at first none has. */
export class StatusChanges {
  #known: Map<string, string> | null = null

  /** Forgets everything, after a time without calls. */
  reset(): void {
    this.#known = null
  }

  async since(db: Kysely<Tables>): Promise<ProbeStatus[]> {
    const probes = await activeProbes(db)
    const before = this.#known
    this.#known = new Map(probes.map((probe) => [probe.id, probeStatus(probe)]))
    if (before === null) return []
    return probes.flatMap((probe) => {
      const status = probeStatus(probe)
      return status === before.get(probe.id) ? [] : [{ id: probe.id, site_id: probe.siteId, status }]
    })
  }
}

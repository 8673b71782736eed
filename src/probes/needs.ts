import type { SiteRow } from '../store/index.ts'
import type { NeededFields, ProbeType } from './probe-type.ts'

/** Whether the site has what is needed. */
export const isMet = (needs: NeededFields, site: SiteRow): boolean =>
  needs.length === 0 || needs.some((fields) => fields.every((field) => site[field] !== null))

/** The alternatives as people read them: `tag_server_url`, or `warehouse_project and warehouse_dataset`. */
export const needsInWords = (needs: NeededFields): string => needs.map((fields) => fields.join(' and ')).join(', or ')

/** Whether `auto_probes` creates a probe of this type for the site. */
export function isAutomatic({ needs, autoNeeds = needs }: ProbeType, site: SiteRow): boolean {
  return autoNeeds !== null && isMet(needs, site) && isMet(autoNeeds, site)
}

import type { SiteReport } from '../../api/analytics.ts'
import type { Directory, DirectorySite } from '../../lib/use-directory.ts'

/** One of the two compared sides: a whole site, or one of its tags. */
export interface Side {
  site: DirectorySite
  /** Null for all tags of the site. */
  tag: string | null
}

/**
 * The two sides named in the page's address; null when it names no active site.
 *
 * @param search `a`, `b`: ids of sites; `a_tag`, `b_tag`
 */
export function sidesOf(
  { sites }: Pick<Directory, 'sites'>,
  search: Readonly<Record<string, string | undefined>>,
): [Side | null, Side | null] {
  const sideOf = (key: 'a' | 'b'): Side | null => {
    const site = sites[search[key] ?? '']
    const tag = search[`${key}_tag`]
    return site === undefined ? null : { site, tag: tag === undefined || tag === '' ? null : tag }
  }
  return [sideOf('a'), sideOf('b')]
}

/** The shortest names that tell two sides apart: the tag for tags of one site, the site for tags of the same name. */
export function labelsOf(a: Side, b: Side): [string, string] {
  const isOneSite = a.site.id === b.site.id
  const labelOf = ({ site, tag }: Side): string => {
    if (tag === null) return isOneSite ? 'All tags' : site.name
    return isOneSite ? tag : `${tag} · ${site.name}`
  }
  const [first, second] = [labelOf(a), labelOf(b)]
  // Two sites may have the same name, or one site may be chosen twice.
  return first === second ? [first, `${second} (2)`] : [first, second]
}

export interface SideFigures {
  events: number
  executions: number
  /** Share of executions, 0–1; null without executions. */
  badShare: number | null
  /** ms; null when unknown, as for batches. */
  p95: number | null
}

/** The figures of a side in a report. */
export function figuresOf(
  { total_events, tags, latency }: Pick<SiteReport, 'total_events' | 'tags' | 'latency'>,
  tag: string | null,
): SideFigures {
  const counted = tags.filter(({ tag_key }) => tag === null || tag_key === tag)
  const executions = counted.reduce((sum, each) => sum + each.executions, 0)
  const bad = counted.reduce((sum, each) => sum + each.failure + each.timeout + each.exception, 0)
  return {
    events: total_events,
    executions,
    badShare: executions === 0 ? null : bad / executions,
    p95: (tag === null ? latency : counted[0])?.p95_ms ?? null,
  }
}

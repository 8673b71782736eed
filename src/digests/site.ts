import { overview, type ReportContext, type WindowReport } from '../analytics/index.ts'
import { DAY, floorTo } from '../lib/index.ts'
import type { DigestSite } from '../notifications/index.ts'
import type { SiteRow } from '../store/index.ts'
import type { DuePeriod } from './due-period.ts'

/** A share of fewer executions than this jumps by chance. */
const MIN_EXECUTIONS = 50
/** Of the share of successes, 0–1. */
const MIN_DROP = 0.01
const MOST_TAGS = 5

/** What a site did in the period, against the one before. */
export async function siteDigest(context: ReportContext, site: SiteRow, period: DuePeriod): Promise<DigestSite> {
  const earliest = floorTo(context.clock.now(), DAY) - context.retention.hourDays * DAY
  // Where counts are kept for but a week, the first hours of the week that was are gone by now.
  const report = await overview(context, site, { from: Math.max(period.from, earliest), to: period.to })
  // Set up in the middle of a period, a site has no whole one to compare with.
  const isComparable = period.before.from >= Math.max(earliest, site.created_at)
  const before = isComparable ? await overview(context, site, period.before) : null
  return {
    id: site.id,
    name: site.name,
    events: report.total_events,
    events_before: before?.total_events ?? null,
    score: report.score.overall,
    score_before: before?.score.overall ?? null,
    worse_tags: before === null ? [] : worseTags(report.tags, before.tags),
  }
}

type Tag = Pick<WindowReport['tags'][number], 'tag_key' | 'executions' | 'success_rate'>

/** The tags that ran often enough in both periods and now succeed less often, the greatest loss first. */
export function worseTags(tags: readonly Tag[], before: readonly Tag[]): DigestSite['worse_tags'] {
  const earlier = ratesOf(before)
  return [...ratesOf(tags)]
    .flatMap(([tag_key, success_rate]) => {
      const success_rate_before = earlier.get(tag_key)
      return success_rate_before === undefined ? [] : [{ tag_key, success_rate, success_rate_before }]
    })
    .filter((tag) => lossOf(tag) >= MIN_DROP)
    .sort((a, b) => lossOf(b) - lossOf(a) || (a.tag_key < b.tag_key ? -1 : 1))
    .slice(0, MOST_TAGS)
}

const ratesOf = (tags: readonly Tag[]): Map<string, number> =>
  new Map(
    tags.flatMap(({ tag_key, executions, success_rate }): [string, number][] =>
      success_rate === null || executions < MIN_EXECUTIONS ? [] : [[tag_key, success_rate]],
    ),
  )

/** 0.99 − 0.98 is a little below 0.01 in binary. */
const lossOf = ({ success_rate, success_rate_before }: DigestSite['worse_tags'][number]): number =>
  Math.round(1e9 * (success_rate_before - success_rate)) / 1e9

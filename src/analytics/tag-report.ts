import { LATENCY_COLUMNS } from '../rollups/index.ts'
import type { TagCounts } from '../store/index.ts'
import { histogramQuantile } from './percentile.ts'
import { ratio } from './presence.ts'
import type { TagIdentity } from './tag-identity.ts'

/** One tag over a window. */
export interface TagReport {
  tag_key: string
  tag_id: string | null
  tag_name: string | null
  executions: number
  success: number
  failure: number
  timeout: number
  exception: number
  /** 0–1. */
  success_rate: number | null
  avg_ms: number | null
  /** Null when only batches reported the tag: they carry no distribution. */
  p50_ms: number | null
  p95_ms: number | null
  p99_ms: number | null
}

export function tagReport(key: string, counts: TagCounts, identity: TagIdentity): TagReport {
  const { executions, success, failure, timeout, exception } = counts
  return {
    tag_key: key,
    tag_id: identity.idOf(key),
    tag_name: identity.nameOf(key),
    executions,
    success,
    failure,
    timeout,
    exception,
    success_rate: ratio(success, executions),
    ...latency(counts),
  }
}

export type Latency = Pick<TagReport, 'avg_ms' | 'p50_ms' | 'p95_ms' | 'p99_ms'>

export function latency(counts: Pick<TagCounts, LatencyColumn | 'total_ms' | 'timed'>): Latency {
  const histogram = LATENCY_COLUMNS.map((column) => counts[column])
  return {
    avg_ms: counts.timed === 0 ? null : counts.total_ms / counts.timed,
    p50_ms: histogramQuantile(histogram, 0.5),
    p95_ms: histogramQuantile(histogram, 0.95),
    p99_ms: histogramQuantile(histogram, 0.99),
  }
}

export type LatencyColumn = (typeof LATENCY_COLUMNS)[number]

/** What failed in any way. */
export const bad = (counts: Pick<TagCounts, 'failure' | 'timeout' | 'exception'>): number =>
  counts.failure + counts.timeout + counts.exception

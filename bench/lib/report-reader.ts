import { Histogram } from './histogram.ts'

export interface ReportPlan {
  /** Asked in random order, one after the other. */
  urls: string[]
  /** Requests before this much time has passed are not measured. */
  warmupMs: number
  measureMs: number
}

export interface ReportResult {
  reports: number
  p50Ms: number
  p99Ms: number
  maxMs: number
}

/** Reads reports like a person who opens one as soon as the last has come. @throws Error on an answer that is not 200. */
export async function readReports(plan: ReportPlan): Promise<ReportResult> {
  const micros = new Histogram()
  const start = performance.now()
  const measureFrom = start + plan.warmupMs
  const end = measureFrom + plan.measureMs
  while (performance.now() < end) {
    const url = plan.urls[Math.floor(Math.random() * plan.urls.length)]
    if (url === undefined) throw new Error('there are no reports to read')
    const sentAt = performance.now()
    const response = await fetch(url)
    const text = await response.text()
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text.slice(0, 500)}`)
    if (sentAt >= measureFrom) micros.record((performance.now() - sentAt) * 1_000)
  }
  return {
    reports: micros.count,
    p50Ms: micros.percentile(0.5) / 1_000,
    p99Ms: micros.percentile(0.99) / 1_000,
    maxMs: micros.max / 1_000,
  }
}

import { Counter, Gauge, type Registry } from 'prom-client'
import type { Journal } from './journal.ts'

export function journalMetrics(registry: Registry, journal: Journal): void {
  const registers = [registry]
  const { commits } = journal
  new Counter({
    name: 'tagwarden_commits_total',
    help: 'Group commits that reached the disk',
    registers,
    collect() {
      this.reset()
      this.inc(commits.totals.commits)
    },
  })
  new Counter({
    name: 'tagwarden_submissions_total',
    help: 'Checked payloads by the outcome of their commit',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset()
      const { committed, duplicates, failed } = commits.totals
      this.labels({ outcome: 'committed' }).inc(committed)
      this.labels({ outcome: 'duplicate' }).inc(duplicates)
      this.labels({ outcome: 'failed' }).inc(failed)
    },
  })
  new Gauge({
    name: 'tagwarden_ingest_waiting',
    help: 'Payloads waiting for the next commit',
    registers,
    collect() {
      this.set(commits.waiting)
    },
  })
  new Gauge({
    name: 'tagwarden_fold_lag_seconds',
    help: 'Age of the oldest accepted count that reports do not show yet',
    registers,
    collect() {
      this.set(journal.foldLagMs / 1_000)
    },
  })
}

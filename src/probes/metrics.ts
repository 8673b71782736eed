import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Scheduler } from './scheduler.ts'

/** Seconds: around the promised lag of less than 1 s, and up to what a restart costs. */
const LAG_BUCKETS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10, 30, 60]

export function probeMetrics(registry: Registry, scheduler: Scheduler): void {
  const registers = [registry]
  const lag = new Histogram({
    name: 'tagwarden_probe_lag_seconds',
    help: "Delay between the due time and the start of a probe's run",
    buckets: LAG_BUCKETS,
    registers,
  })
  const runs = new Counter({
    name: 'tagwarden_probe_runs_total',
    help: 'Probe runs whose result was written; unjudged is an ok that found nothing to judge',
    labelNames: ['probe_type', 'status'],
    registers,
  })
  scheduler.watch({
    onStart: (lagMs) => lag.observe(lagMs / 1_000),
    onResult: (probe_type, status) => runs.labels({ probe_type, status }).inc(),
  })
  new Gauge({
    name: 'tagwarden_probes_active',
    help: 'Probes that this node is running, or will run as soon as a slot is free',
    registers,
    collect() {
      this.set(scheduler.active)
    },
  })
}

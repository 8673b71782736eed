import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lagBetween, lagBound, parseProbeMetrics } from '../probes/lag.ts'
import { punctuality } from '../probes/punctuality.ts'

const metrics = (upTo100: number, upTo500: number, all: number) =>
  parseProbeMetrics(
    [
      `tagwarden_probe_lag_seconds_bucket{le="0.1"} ${upTo100}`,
      `tagwarden_probe_lag_seconds_bucket{le="0.5"} ${upTo500}`,
      `tagwarden_probe_lag_seconds_bucket{le="+Inf"} ${all}`,
      `tagwarden_probe_lag_seconds_count ${all}`,
      `tagwarden_probe_runs_total{probe_type="http_health",status="ok"} ${all - 1}`,
      'tagwarden_probe_runs_total{probe_type="http_health",status="error"} 1',
    ].join('\n'),
  )

test('the lag of a stretch leaves out what was counted before it', () => {
  const lag = lagBetween([{ before: metrics(0, 50, 100).lag, after: metrics(99, 150, 200).lag }])
  assert.equal(lagBound(lag, 0.99), 0.1)
  assert.equal(lagBound(lag, 1), 0.5)
})

test('a lag beyond the last bucket is not bounded, and that of no runs is not known', () => {
  assert.equal(lagBound(metrics(0, 0, 10).lag, 0.99), Number.POSITIVE_INFINITY)
  assert.equal(lagBound(metrics(0, 0, 0).lag, 0.99), Number.NaN)
})

test('runs are counted whatever their status', () => {
  assert.equal(metrics(1, 2, 7).runs, 7)
})

test('a run belongs to the time before it at which its probe was due', () => {
  const probes = [{ gridTime: 1_000_030, executedAt: [1_000_029, 1_000_031, 1_000_140] }]
  const { due, missed, lagMs } = punctuality(probes, 100, [{ from: 1_000_000, to: 1_000_200 }])
  assert.deepEqual({ due, missed, runs: lagMs.count, longest: lagMs.max }, { due: 2, missed: 0, runs: 2, longest: 10 })
})

test('a time at which a probe was due and did not run is missed, also beside one with two runs', () => {
  const probes = [{ gridTime: 500, executedAt: [510, 520] }]
  const { due, missed } = punctuality(probes, 100, [{ from: 500, to: 700 }])
  assert.deepEqual({ due, missed }, { due: 2, missed: 1 })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Verdict } from '../../src/detection/index.ts'
import { isoTime } from '../../src/lib/index.ts'
import type { Fault } from '../detection/faults.ts'
import { timeOf } from '../detection/world.ts'
import { estimatesOfSite, historyWithFaults } from '../impact/site.ts'
import { errorsOf, errorTable } from '../impact/table.ts'
import { FaultWindows } from '../impact/windows.ts'
import { quantile } from '../lib/statistics.ts'

test('what faults took is estimated within 15 % in the median, where beginning and end are known', () => {
  const estimates = [0, 1, 2].flatMap((index) => estimatesOfSite(historyWithFaults(1, index), true))
  assert.ok(estimates.length >= 6, `${estimates.length} losses`)
  assert.ok(quantile(errorsOf(estimates), 0.5) <= 0.15, errorTable(estimates))
})

const FAULT: Fault = { kind: 'event_dead', from: 10_000, to: 10_200, size: 0, event: 'purchase' }

function verdict(event_name: string, since: number): Verdict {
  const finding = {
    subject: { event_name },
    status: 'critical' as const,
    message: '',
    measured: 0,
    expected: 9,
    band: { low: 1, high: null },
    since: isoTime(timeOf(since)),
    evidence: {},
  }
  return { status: 'critical', message: '', details: { findings: [finding], judged: 1, unjudged: 0 }, fine: [] }
}

test('a fault was seen from the onset that was found first until the last bad run', () => {
  const windows = new FaultWindows([FAULT])
  windows.add('data_volume', 9_900, verdict('purchase', 9_890))
  windows.add('data_volume', 10_040, verdict('view', 10_000))
  windows.add('tag_missing', 10_045, verdict('purchase', 10_000))
  assert.equal(windows.of(FAULT), undefined)
  windows.add('data_volume', 10_050, verdict('purchase', 10_003))
  windows.add('data_volume', 10_215, verdict('purchase', 10_010))
  windows.add('data_volume', 10_900, verdict('purchase', 10_890))
  assert.deepEqual(windows.of(FAULT), { from: 10_003, to: 10_220 })
})

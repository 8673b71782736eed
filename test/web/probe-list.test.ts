import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ProbeRecord } from '../../web/src/api/probes.ts'
import { countsOf, matching, pausedWords, rowsOf } from '../../web/src/features/probes/list.ts'

type State = Pick<ProbeRecord, 'last_status' | 'paused_by'>

const probe = (name: string, { last_status, paused_by }: State): ProbeRecord => ({
  id: name,
  site_id: 's1',
  probe_type: 'http_health',
  name,
  config: {},
  secrets_set: [],
  secret_fingerprints: {},
  interval_seconds: 60,
  timeout_ms: 10_000,
  failure_threshold: 1,
  recovery_threshold: 1,
  is_active: paused_by !== 'probe',
  created_at: '2026-11-20T10:00:00.000Z',
  next_run_at: null,
  paused_by,
  last_status,
  judged: last_status !== null,
  reason: null,
  last_message: null,
  last_response_time_ms: null,
  last_result_at: null,
  consecutive_failures: 0,
})

test('what a probe found before its site or client was paused is neither counted nor listed as trouble', () => {
  const rows = rowsOf(
    [
      probe('of a paused client', { last_status: 'critical', paused_by: 'client' }),
      probe('of a paused site', { last_status: 'critical', paused_by: 'site' }),
      probe('paused', { last_status: 'ok', paused_by: 'probe' }),
      probe('fine', { last_status: 'ok', paused_by: null }),
      probe('broken', { last_status: 'warning', paused_by: null }),
    ],
    [],
  )
  const names = (list: typeof rows) => list.map(({ probe: { name } }) => name)
  assert.deepEqual(names(rows).slice(0, 2), ['broken', 'fine'])
  assert.deepEqual(countsOf(rows), {
    states: [
      { status: 'warning', count: 1 },
      { status: 'ok', count: 1 },
    ],
    off: 3,
  })
  assert.deepEqual(names(matching(rows, 'trouble', '')), ['broken'])
  assert.equal(matching(rows, 'off', '').length, 3)
  assert.deepEqual(
    (['client', 'site', 'probe'] as const).map((paused_by) => pausedWords({ paused_by })),
    ['client paused', 'site paused', 'paused'],
  )
})

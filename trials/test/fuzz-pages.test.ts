import assert from 'node:assert/strict'
import { test } from 'node:test'
import { amount } from '../../testkit/length.ts'
import { runPages } from '../fuzz/pages/run.ts'

test('no hostile answer freezes or ends the thread that reads it, or leads to an outcome that cannot be shown', async () => {
  const { failures, types } = await runPages(amount(400, 6_000), 20_261_122, () => undefined)
  assert.deepEqual(failures, [])
  const tried = ['cmp_check', 'http_health', 'image_version', 'meta_quality', 'tag_manager_version', 'tag_server_infra']
  assert.deepEqual([...types.keys()].sort(), tried)
  // Were all of them refused alike, nothing would have been read.
  const cmp = types.get('cmp_check')
  assert.ok(cmp !== undefined && cmp.statuses.ok + cmp.statuses.warning > 0 && cmp.statuses.critical > 0)
})
